//! A socket that can be asked whether there is something to read.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// A stream to a server, with or without TLS.
#[derive(Debug)]
pub enum Stream {
    Plain(Socket),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<Socket>>),
}

/// The socket itself.
///
/// tokio reads from a socket only after its poll has said that there is something. That may be late: the process was
/// stopped, or its threads were busy. Before a time limit acts, the kernel itself is asked.
#[derive(Debug)]
pub struct Socket {
    inner: Inner,
    asks_kernel: bool,
}

#[derive(Debug)]
enum Inner {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl From<TcpStream> for Socket {
    fn from(stream: TcpStream) -> Self {
        Self { inner: Inner::Tcp(stream), asks_kernel: false }
    }
}

#[cfg(unix)]
impl From<UnixStream> for Socket {
    fn from(stream: UnixStream) -> Self {
        Self { inner: Inner::Unix(stream), asks_kernel: false }
    }
}

impl Stream {
    /// From now on, whether reading asks the kernel, whatever the last poll has said.
    pub fn ask_kernel(&mut self, asks: bool) {
        match self {
            Self::Plain(socket) => socket.asks_kernel = asks,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.get_mut().0.asks_kernel = asks,
        }
    }
}

impl Socket {
    /// What is there to read now.
    fn receive(&self, buffer: &mut ReadBuf<'_>) -> io::Result<()> {
        let socket = match &self.inner {
            Inner::Tcp(stream) => SockRef::from(stream),
            #[cfg(unix)]
            Inner::Unix(stream) => SockRef::from(stream),
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
        match &mut self.inner {
            Inner::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            #[cfg(unix)]
            Inner::Unix(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

/// Forwards to the stream inside.
macro_rules! writes {
    ($type:ty, $self:ident => $field:expr, $($(#[$attribute:meta])* $pattern:path),*) => {
        impl AsyncWrite for $type {
            fn poll_write(mut $self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                match $field { $($(#[$attribute])* $pattern(stream) => Pin::new(stream).poll_write(cx, bytes)),* }
            }

            fn poll_flush(mut $self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                match $field { $($(#[$attribute])* $pattern(stream) => Pin::new(stream).poll_flush(cx)),* }
            }

            fn poll_shutdown(mut $self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                match $field { $($(#[$attribute])* $pattern(stream) => Pin::new(stream).poll_shutdown(cx)),* }
            }
        }
    };
}

writes!(Socket, self => &mut self.inner, Inner::Tcp, #[cfg(unix)] Inner::Unix);
writes!(Stream, self => &mut *self, Self::Plain, #[cfg(feature = "tls")] Self::Tls);

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}
