package roselle.server.upstream;

import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpResponseDecoder;

/** Decodes the answers of a connection: one to {@code HEAD} has no body, whatever its headers announce. */
final class AnswerDecoder extends HttpResponseDecoder {
    private static final int MAX_HEADER = 64 << 10;
    private static final int MAX_LINE = 4 << 10;

    private final UpstreamConnection connection;

    AnswerDecoder(UpstreamConnection connection) {
        super(new HttpDecoderConfig().setMaxInitialLineLength(MAX_LINE).setMaxHeaderSize(MAX_HEADER));
        this.connection = connection;
    }

    @Override
    protected boolean isContentAlwaysEmpty(HttpMessage answer) {
        return connection.asksForHead() || super.isContentAlwaysEmpty(answer);
    }
}
