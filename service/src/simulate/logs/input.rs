//! The lines of a file, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use indicatif::ProgressBar;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The longest line that is read, in bytes.
pub const LONGEST: usize = 64 << 10;
/// How many bytes are read at a time.
const BLOCK: usize = 4 * LONGEST;
/// How many bytes at the beginning of a file its format is found from.
const FIRST: u64 = LONGEST as u64;

/// Opens a file, or with `-` the standard input. A file is read up to the size that it has now.
pub fn open(path: &Path, bar: &ProgressBar) -> io::Result<Box<dyn Read>> {
    let file =
        if path == Path::new("-") { io::stdin().as_fd().try_clone_to_owned()?.into() } else { File::open(path)? };
    let metadata = file.metadata()?;
    if path != Path::new("-") && (metadata.file_type().is_char_device() || metadata.file_type().is_block_device()) {
        return Err(io::Error::other("it is a device"));
    }
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

/// The lines of a source.
pub struct Lines {
    source: Box<dyn BufRead>,
    line: Vec<u8>,
}

impl Lines {
    /// The lines, and the first bytes of them.
    pub fn new(mut source: impl Read + 'static) -> io::Result<(Self, Vec<u8>)> {
        let mut first = Vec::new();
        source.by_ref().take(FIRST).read_to_end(&mut first)?;
        let source = io::Cursor::new(first.clone()).chain(BufReader::with_capacity(BLOCK, source));
        Ok((Self { source: Box::new(source), line: Vec::new() }, first))
    }

    /// The next line, without its end; `None` after the last one. A line that has more bytes than [`LONGEST`] is cut
    /// there, and what is left out of it is not held.
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let limit = LONGEST as u64 + 2;
        if (&mut self.source).take(limit).read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let Some(line) = self.line.strip_suffix(b"\n") else {
            self.source.skip_until(b'\n')?;
            return Ok(Some(&self.line));
        };
        Ok(Some(trimmed(line)))
    }
}

/// A line without the carriage return before its end.
pub fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
