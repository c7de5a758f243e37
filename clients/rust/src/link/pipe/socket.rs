//! A socket that can be asked whether there is something to read.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::either::Either;

#[cfg(unix)]
type Local = tokio::net::UnixStream;
#[cfg(not(unix))]
type Local = TcpStream;

/// A stream to a server, with or without TLS.
#[cfg(feature = "tls")]
pub type Stream = Either<Socket, Box<tokio_rustls::client::TlsStream<Socket>>>;
#[cfg(not(feature = "tls"))]
pub type Stream = Either<Socket, Socket>;

/// From now on, whether reading asks the kernel, whatever the last poll has said.
pub fn ask_kernel(stream: &mut Stream, asks: bool) {
    match stream {
        Either::Left(socket) => socket.asks_kernel = asks,
        #[cfg(feature = "tls")]
        Either::Right(stream) => stream.get_mut().0.asks_kernel = asks,
        #[cfg(not(feature = "tls"))]
        Either::Right(socket) => socket.asks_kernel = asks,
    }
}

/// The socket itself.
///
/// tokio reads from a socket only after its poll has said that there is something. That may be late: the process was
/// stopped, or its threads were busy. Before a time limit acts, the kernel itself is asked.
#[derive(Debug)]
pub struct Socket {
    inner: Either<TcpStream, Local>,
    asks_kernel: bool,
}

impl Socket {
    pub const fn new(inner: Either<TcpStream, Local>) -> Self {
        Self { inner, asks_kernel: false }
    }

    /// What is there to read now.
    fn receive(&self, buffer: &mut ReadBuf<'_>) -> io::Result<()> {
        let socket = match &self.inner {
            Either::Left(stream) => SockRef::from(stream),
            Either::Right(stream) => SockRef::from(stream),
        };
        let length = (&*socket).read(buffer.initialize_unfilled())?;
        buffer.advance(length);
        Ok(())
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.asks_kernel {
            match self.receive(buffer) {
                // tokio's own read notes who is to be woken.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
