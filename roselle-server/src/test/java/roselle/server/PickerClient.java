package roselle.server;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.util.ReferenceCountUtil;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import roselle.server.grpc.ProtoReader;
import roselle.server.grpc.ProtoWriter;

/**
 * Asks an endpoint picker as Envoy does: one call of {@code envoy.service.ext_proc.v3.ExternalProcessor/Process} for each request,
 * bodies in {@code FULL_DUPLEX_STREAMED} mode, open until the answer has passed.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of streams and connections that are closed
final class PickerClient implements AutoCloseable {
    private static final String DESTINATION = "x-gateway-destination-endpoint";
    private static final int PATIENCE_SECONDS = 60;

    // fields of ProcessingRequest, and of ProcessingResponse
    private static final int REQUEST_HEADERS = 2;
    private static final int RESPONSE_HEADERS = 3;
    private static final int REQUEST_BODY = 4;
    private static final int RESPONSE_BODY = 5;
    private static final int HEADERS_ANSWER = 1;
    private static final int IMMEDIATE_ANSWER = 7;

    private final MultiThreadIoEventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final Channel connection;

    PickerClient(InetSocketAddress picker) throws InterruptedException {
        connection = new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        Http2FrameCodecBuilder.forClient().build(),
                                        new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                    }
                })
                .connect(picker)
                .sync()
                .channel();
    }

    /** Where a request may go: the servers that the picker names, the best first. */
    Pick pick(String path, String body) throws IOException, InterruptedException {
        var pick = new Pick();
        pick.send(REQUEST_HEADERS, headers(":method", "POST", ":path", path, "content-type", "application/json"));
        pick.send(REQUEST_BODY, body(body));
        pick.awaitDestination();
        return pick;
    }

    private static ProtoWriter headers(String... pairs) {
        var map = new ProtoWriter();
        for (int at = 0; at < pairs.length; at += 2) {
            map.message(
                    1, new ProtoWriter().text(1, pairs[at]).element(3, pairs[at + 1].getBytes(StandardCharsets.UTF_8)));
        }
        return new ProtoWriter().message(1, map);
    }

    private static ProtoWriter body(String body) {
        return new ProtoWriter().text(1, body).bool(2, true);
    }

    /** One request on its way. */
    final class Pick implements AutoCloseable {
        private final BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
        private final Channel stream;
        private List<String> servers = List.of();

        private Pick() throws InterruptedException {
            stream = new Http2StreamChannelBootstrap(connection)
                    .handler(new Answers())
                    .open()
                    .sync()
                    .getNow();
            var head = new DefaultHttp2Headers()
                    .method("POST")
                    .scheme("http")
                    .authority("picker")
                    .path("/envoy.service.ext_proc.v3.ExternalProcessor/Process")
                    .add("content-type", "application/grpc")
                    .add("te", "trailers");
            stream.writeAndFlush(new DefaultHttp2HeadersFrame(head)).sync();
        }

        List<String> servers() {
            return servers;
        }

        private void send(int field, ProtoWriter message) throws InterruptedException {
            byte[] bytes = new ProtoWriter().message(field, message).toBytes();
            ByteBuf framed = Unpooled.buffer(bytes.length + 5)
                    .writeByte(0)
                    .writeInt(bytes.length)
                    .writeBytes(bytes);
            stream.writeAndFlush(new DefaultHttp2DataFrame(framed)).sync();
        }

        /** Until the request's head may go on, which the picker says when it has read the body. */
        private void awaitDestination() throws IOException, InterruptedException {
            while (servers.isEmpty()) {
                byte[] answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                if (answer == null || answer.length == 0) {
                    throw new EOFException("the picker ends without a word");
                }
                var fields = new ProtoReader("ProcessingResponse", answer);
                while (fields.next()) {
                    switch (fields.field()) {
                        case HEADERS_ANSWER -> servers = destination(fields.bytes());
                        case IMMEDIATE_ANSWER ->
                            throw new IOException(
                                    "the picker refuses: " + new String(fields.bytes(), StandardCharsets.UTF_8));
                        default -> fields.bytes();
                    }
                }
            }
        }

        /** The header that it sets: HeadersResponse.response.header_mutation.set_headers.header. */
        private static List<String> destination(byte[] answer) throws IOException {
            var headers = new ProtoReader("HeadersResponse", answer);
            headers.next();
            var response = headers.message("CommonResponse");
            while (response.next()) {
                if (response.field() != 2) {
                    response.varint(); // whether the route is looked up again
                    continue;
                }
                var mutation = response.message("HeaderMutation");
                while (mutation.next()) {
                    var option = mutation.message("HeaderValueOption");
                    option.next();
                    var header = option.message("HeaderValue");
                    header.next();
                    if (header.text().equals(DESTINATION) && header.next()) {
                        return List.of(header.text().split(","));
                    }
                }
            }
            throw new IOException("the picker names no server");
        }

        /** Tells the picker of the answer, as far as it looks at it. */
        void answered(String text) throws InterruptedException {
            send(RESPONSE_HEADERS, headers(":status", "200", "content-type", "application/json"));
            send(RESPONSE_BODY, body(text));
            for (byte[] answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                    answer != null && answer.length > 0 && answer[0] >> 3 != 4;
                    answer = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                // the body of the request, and the head of the answer, as they may go on
            }
        }

        @Override
        public void close() {
            stream.close();
        }

        /** Cuts what comes into messages; one without bytes is the end. */
        private final class Answers extends ChannelInboundHandlerAdapter {
            private final ByteBuf all = Unpooled.buffer();

            @Override
            public void channelRead(ChannelHandlerContext context, Object frame) {
                try {
                    boolean isLast = frame instanceof Http2HeadersFrame headers && headers.isEndStream();
                    if (frame instanceof Http2DataFrame data) {
                        all.writeBytes(data.content());
                        isLast = data.isEndStream();
                    }
                    while (all.readableBytes() >= 5 && all.readableBytes() >= 5 + all.getInt(all.readerIndex() + 1)) {
                        all.skipBytes(1);
                        answers.add(ByteBufUtil.getBytes(all.readSlice(all.readInt())));
                    }
                    if (isLast) {
                        answers.add(new byte[0]);
                    }
                } finally {
                    ReferenceCountUtil.release(frame);
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext context) {
                answers.add(new byte[0]);
            }
        }
    }

    @Override
    public void close() {
        connection.close();
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
