package roselle.server.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ServerUpgradeCodec;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.util.AsciiString;
import java.util.List;

/** Which handlers the bytes of a connection meet, by the protocol that it speaks. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails to leave closes the connection, and that is told
final class Protocols {
    private static final int MAX_STREAMS = 256;
    private static final int STREAM_WINDOW = 256 << 10;
    /** A body that may come with a request that asks to go on in HTTP/2; with a longer one it stays in HTTP/1.1. */
    private static final int MAX_UPGRADE_BODY = 16 << 10;
    /** Streams that a peer may reset in {@link #RESET_SECONDS}; more is an attack (CVE-2023-44487). */
    private static final int MAX_RESETS = 1000;

    private static final int RESET_SECONDS = 10;
    private static final long GRACE_MILLIS = 2000;

    private final Connection connection;
    private final CallStarter starter;
    private final boolean isSecure;

    Protocols(Connection connection, CallStarter starter, boolean isSecure) {
        this.connection = connection;
        this.starter = starter;
        this.isSecure = isSecure;
    }

    /** Tells the protocol by the first bytes. */
    ByteToMessageDecoder byFirstBytes() {
        return new ByteToMessageDecoder() {
            @Override
            protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
                ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
                int known = Math.min(preface.readableBytes(), in.readableBytes());
                boolean isHttp2 = in.slice(in.readerIndex(), known).equals(preface.slice(0, known));
                if (isHttp2 && known < preface.readableBytes()) {
                    return;
                }
                if (isHttp2) {
                    http2(context.pipeline());
                } else {
                    http1(context.pipeline());
                }
                context.pipeline().remove(this);
            }
        };
    }

    /** Tells the protocol by what was agreed in the handshake of TLS. */
    ApplicationProtocolNegotiationHandler byHandshake() {
        return new ApplicationProtocolNegotiationHandler(ApplicationProtocolNames.HTTP_1_1) {
            @Override
            protected void configurePipeline(ChannelHandlerContext context, String protocol) {
                if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                    http2(context.pipeline());
                } else {
                    http1(context.pipeline());
                    connection.awaitsRequest();
                }
            }

            @Override
            protected void handshakeFailure(ChannelHandlerContext context, Throwable cause) {
                connection.closeNow();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                connection.closeNow();
            }
        };
    }

    private void http1(ChannelPipeline pipeline) {
        var decoder = new HeadDecoder(connection, starter.maxHeaderBytes());
        var encoder = new HttpResponseEncoder();
        pipeline.addLast(decoder, encoder);
        if (!isSecure) {
            pipeline.addLast(upgrade(decoder, encoder));
        }
        pipeline.addLast(new Http1Handler(connection, decoder, starter, isSecure));
    }

    /** Takes the first request of a connection to HTTP/2, if that asks for it (RFC 7540, section 3.2). */
    private HttpServerUpgradeHandler upgrade(HeadDecoder decoder, HttpResponseEncoder encoder) {
        return new HttpServerUpgradeHandler(
                context -> context.pipeline().remove(decoder).remove(encoder),
                name -> AsciiString.contentEquals(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, name)
                        ? new Http2ServerUpgradeCodec(
                                codec(), new Http2MultiplexHandler(streams()), new Http2Watch(connection)) {
                            @Override
                            public void upgradeTo(ChannelHandlerContext context, FullHttpRequest request) {
                                super.upgradeTo(context, request);
                                context.pipeline().addAfter(context.name(), null, new UpgradedRequest());
                            }
                        }
                        : null,
                MAX_UPGRADE_BODY) {
            private boolean isFirst = true;

            @Override
            protected boolean shouldHandleUpgradeRequest(HttpRequest request) {
                boolean mayUpgrade = isFirst && isSmall(request) && isSound(request);
                isFirst = false;
                return mayUpgrade;
            }
        };
    }

    private static boolean isSmall(HttpRequest request) {
        return !HttpUtil.isTransferEncodingChunked(request)
                && !request.headers().contains(HttpHeaderNames.EXPECT)
                && HttpUtil.getContentLength(request, 0L) <= MAX_UPGRADE_BODY;
    }

    private boolean isSound(HttpRequest request) {
        try {
            RequestHead.ofHttp1(request, starter.maxHeaderBytes());
            return true;
        } catch (RefusedException _) {
            return false; // it gets its answer in HTTP/1.1
        }
    }

    private void http2(ChannelPipeline pipeline) {
        pipeline.addLast(
                new HeaderBlocks(connection),
                codec(),
                new Http2MultiplexHandler(streams()),
                new Http2Watch(connection));
    }

    private Http2FrameCodec codec() {
        return Http2FrameCodecBuilder.forServer()
                .initialSettings(Http2Settings.defaultSettings()
                        .maxConcurrentStreams(MAX_STREAMS)
                        .initialWindowSize(STREAM_WINDOW)
                        .maxHeaderListSize(starter.maxHeaderBytes()))
                .gracefulShutdownTimeoutMillis(GRACE_MILLIS)
                .decoderEnforceMaxRstFramesPerWindow(MAX_RESETS, RESET_SECONDS)
                .validateHeaders(true)
                .build();
    }

    private ChannelInitializer<Channel> streams() {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline()
                        .addLast(
                                new Http2StreamFrameToHttpObjectCodec(true),
                                new StreamHandler(connection, starter, isSecure));
            }
        };
    }
}
