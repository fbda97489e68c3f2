//! Connections that have not shown the token yet: how many there are, and for how long.

use std::collections::VecDeque;
use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// So many connections may be without a token. For one more, the oldest of them is cut: a client that
/// means it shows its token at once.
pub(super) const MOST: usize = 48;

/// How long to wait where no further connection can be taken, such as for want of descriptors.
const RECOVERY: Duration = Duration::from_millis(100);

/// One connection, from its beginning on.
#[derive(Debug)]
struct Visit {
    /// Whether the token was shown on it.
    known: AtomicBool,
    cut: CancellationToken,
}

type Queue = Arc<Mutex<VecDeque<Arc<Visit>>>>;

fn leave(queue: &Queue, visit: &Arc<Visit>) {
    let mut waiting = queue.lock().unwrap_or_else(PoisonError::into_inner);
    waiting.retain(|other| !Arc::ptr_eq(other, visit));
}

/// What a request knows of its connection.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    visit: Arc<Visit>,
    queue: Queue,
}

impl Caller {
    /// The token was shown: the connection may stay.
    pub(super) fn let_in(&self) {
        if !self.visit.known.swap(true, Ordering::Relaxed) {
            leave(&self.queue, &self.visit);
        }
    }
}

impl Connected<IncomingStream<'_, Door>> for Caller {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        let stream = stream.io();
        Self { visit: Arc::clone(&stream.visit), queue: Arc::clone(&stream.queue) }
    }
}

/// Takes connections.
#[derive(Debug)]
pub(super) struct Door {
    listener: TcpListener,
    queue: Queue,
    /// How long a connection may be without a token.
    patience: Duration,
}

impl Door {
    pub(super) fn new(listener: TcpListener, patience: Duration) -> Self {
        Self { listener, queue: Queue::default(), patience }
    }

    fn admit(&self, stream: TcpStream) -> Stream {
        let cut = CancellationToken::new();
        let visit = Arc::new(Visit { known: AtomicBool::new(false), cut: cut.clone() });
        let mut waiting = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.len() >= MOST
            && let Some(oldest) = waiting.pop_front()
        {
            oldest.cut.cancel();
        }
        waiting.push_back(Arc::clone(&visit));
        let queue = Arc::clone(&self.queue);
        let cut = Box::pin(cut.cancelled_owned());
        let late = Box::pin(tokio::time::sleep(self.patience));
        Stream { inner: stream, visit, queue, cut, late }
    }
}

impl Listener for Door {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => return (self.admit(stream), address),
                Err(_) => tokio::time::sleep(RECOVERY).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends by itself while nobody shows a token on it.
#[derive(Debug)]
pub(super) struct Stream {
    inner: TcpStream,
    visit: Arc<Visit>,
    queue: Queue,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
    late: Pin<Box<Sleep>>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        leave(&self.queue, &self.visit);
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let over = !self.visit.known.load(Ordering::Relaxed)
            && (self.cut.as_mut().poll(context).is_ready()
                || self.late.as_mut().poll(context).is_ready());
        if over {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
