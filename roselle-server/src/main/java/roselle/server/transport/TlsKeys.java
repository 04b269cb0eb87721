package roselle.server.transport;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import roselle.server.config.TlsOptions;

/**
 * The certificate and key that handshakes use, which can be read again while connections live on.
 *
 * <p>A handshake asks several times, by a name that it got first: so the pair before the present one is kept, and each has a
 * name of its own.
 */
final class TlsKeys extends X509ExtendedKeyManager {
    private static final String[] VERSIONS = {"TLSv1.3", "TLSv1.2"};

    private final TlsOptions options;
    private volatile Pairs pairs;

    private record Pairs(int number, X509ExtendedKeyManager present, X509ExtendedKeyManager past) {}

    TlsKeys(TlsOptions options) {
        this.options = options;
        X509ExtendedKeyManager first = PemFiles.keys(options, name(0));
        pairs = new Pairs(0, first, first);
    }

    /** Reads the files again; when they are no good, what was read before stays. */
    synchronized void reread() {
        Pairs old = pairs;
        int number = old.number() + 1;
        pairs = new Pairs(number, PemFiles.keys(options, name(number)), old.present());
    }

    private static String name(int number) {
        return "server-" + number;
    }

    /** What connections speak TLS with: HTTP/2 or HTTP/1.1, as the peer prefers. */
    SslContext forConnections() {
        var protocols = new ApplicationProtocolConfig(
                ApplicationProtocolConfig.Protocol.ALPN,
                ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                ApplicationProtocolNames.HTTP_2,
                ApplicationProtocolNames.HTTP_1_1);
        return new JdkSslContext(
                context(),
                false,
                null,
                IdentityCipherSuiteFilter.INSTANCE,
                protocols,
                ClientAuth.NONE,
                VERSIONS.clone(),
                false);
    }

    /** A handler of one connection, whose limits are those of {@link Connection}. */
    static SslHandler handler(SslContext context, ByteBufAllocator allocator) {
        SslHandler handler = context.newHandler(allocator);
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    private SSLContext context() {
        try {
            var context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {this}, null, null);
            return context;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible); // every JDK has it
        }
    }

    private X509ExtendedKeyManager of(String alias) {
        Pairs known = pairs;
        return known.present().getPrivateKey(alias) != null ? known.present() : known.past();
    }

    @Override
    public @Nullable String chooseServerAlias(String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return pairs.present().chooseServerAlias(keyType, issuers, socket);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
            String keyType, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
        return pairs.present().chooseEngineServerAlias(keyType, issuers, engine);
    }

    @Override
    public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
        return pairs.present().getServerAliases(keyType, issuers);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
        return of(alias).getCertificateChain(alias);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
        return of(alias).getPrivateKey(alias);
    }

    // ---- a server proves nothing as a client ----

    @Override
    public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
        return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
            String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
        return null;
    }
}
