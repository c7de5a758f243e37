//! Messages of gRPC in small buffers. tonic's own codec takes 8 KiB for each request, from its header on, and 8 KiB for
//! each reply.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::ProstCodec;

/// What a usual request takes, and a usual reply. A longer one grows.
const BUFFER: usize = 512;
/// How much of a stream of messages is sent at once. A reply is one message.
const AT_ONCE: usize = 32 * 1024;

/// A codec for the services that build.rs makes.
pub struct SmallCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Message + Send + 'static, U: Message + Default + Send + 'static> Codec for SmallCodec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = <ProstCodec<T, U> as Codec>::Encoder;
    type Decoder = <ProstCodec<T, U> as Codec>::Decoder;

    fn encoder(&mut self) -> Self::Encoder {
        ProstCodec::<T, U>::raw_encoder(BufferSettings::new(BUFFER, AT_ONCE))
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstCodec::<T, U>::raw_decoder(BufferSettings::new(BUFFER, AT_ONCE))
    }
}
