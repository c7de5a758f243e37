//! The lines of a file, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The longest line that is read, in bytes.
pub const LONGEST: usize = 64 << 10;
/// What is held of a file. The first of it tells the format.
const BLOCK: usize = 4 * LONGEST;
/// What is kept of a line that is too long.
const BEGINNING: usize = 200;

/// Opens a file, or with `-` the standard input. It is read up to the size that it has now.
pub fn open(path: &Path, bar: &ProgressBar) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        bar.unset_length();
        return decompress(bar.wrap_read(io::stdin()));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        bar.unset_length();
        return decompress(bar.wrap_read(file));
    }
    bar.inc_length(metadata.len());
    decompress(bar.wrap_read(file.take(metadata.len())))
}

/// Decompresses what begins as gzip or zstd does.
pub fn decompress(source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut source = BufReader::with_capacity(BLOCK, source);
    let first = source.fill_buf()?;
    if first.starts_with(&[0x1f, 0x8b]) {
        Ok(Box::new(MultiGzDecoder::new(source)))
    } else if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Ok(Box::new(Zstd { source, decoder: FrameDecoder::new() }))
    } else {
        Ok(Box::new(source))
    }
}

/// Decodes the frames of a file of zstd, one after the other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.decoder.is_finished() {
                let decoded = self.decoder.decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1));
                decoded.map_err(io::Error::other)?;
                continue;
            }
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.init(&mut self.source) {
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.source).take(length.into()), &mut io::sink())?;
                }
                begun => begun.map_err(io::Error::other)?,
            }
        }
        self.decoder.read(to)
    }
}

/// A line without its end, or the beginning of one that is too long.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Whole(&'a [u8]),
    TooLong(&'a [u8]),
}

/// The lines of a source. Of a line that is too long, only the beginning is held.
pub struct Lines {
    source: Box<dyn Read>,
    block: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    beginning: Vec<u8>,
}

impl Lines {
    pub fn new(source: Box<dyn Read>) -> Self {
        Self { source, block: vec![0; BLOCK].into(), start: 0, end: 0, ended: false, beginning: Vec::new() }
    }

    /// The bytes that are next, as many as a block holds.
    pub fn ahead(&mut self) -> io::Result<&[u8]> {
        while !self.ended && self.end - self.start < BLOCK {
            self.fill()?;
        }
        Ok(&self.block[self.start..self.end])
    }

    /// The next line; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let length = loop {
            let held = &self.block[self.start..self.end];
            if let Some(found) = memchr::memchr(b'\n', &held[searched..]) {
                break searched + found;
            }
            searched = held.len();
            if self.ended && searched == 0 {
                return Ok(None);
            }
            if self.ended || searched > LONGEST {
                break searched;
            }
            self.fill()?;
        };
        let line = self.start..self.start + length;
        if length > LONGEST {
            self.beginning = self.block[line].iter().take(BEGINNING).copied().collect();
            self.skip()?;
            return Ok(Some(Line::TooLong(&self.beginning)));
        }
        self.start = (line.end + 1).min(self.end);
        let line = &self.block[line];
        Ok(Some(Line::Whole(trimmed(line))))
    }

    /// Leaves out the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.block[self.start..self.end]) {
                self.start += found + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.ended {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Moves what is left to the beginning of the block, and reads more.
    fn fill(&mut self) -> io::Result<()> {
        self.block.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let read = match self.source.read(&mut self.block[self.end..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            read => read?,
        };
        self.end += read;
        self.ended = read == 0;
        Ok(())
    }
}

/// A line without the carriage return before its end.
pub fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
