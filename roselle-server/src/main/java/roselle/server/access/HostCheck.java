package roselle.server.access;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import roselle.server.config.ServerConfig;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;
import roselle.server.http.Handler;
import roselle.server.http.Routes;

/**
 * Refuses requests that call the server by a name that is not its own.
 *
 * <p>A page of a stranger can give its own name the address of this machine, and its visitor's browser then takes this server for
 * the stranger's, past all that keeps pages of different servers apart (DNS rebinding). The name that the browser believes in
 * arrives as {@code Host}. An address instead of a name cannot be given away so; a server that asks for keys and is there for
 * other machines may have any name, unless it was told which.
 */
public final class HostCheck implements Routes.Interceptor {
    private static final String LOCAL = "localhost";

    private final boolean takesAnyName;
    private final boolean isLoopback;
    private final Set<String> names;

    public HostCheck(ServerConfig config) {
        var access = config.access();
        isLoopback = config.listen().isLoopback();
        takesAnyName = !isLoopback && !access.keys().isEmpty() && access.hosts().isEmpty();
        names = Stream.concat(Stream.of(config.listen().host(), LOCAL), access.hosts().stream())
                .map(HostCheck::plain)
                .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public void handle(Exchange exchange, Handler next) throws IOException {
        if (!takesAnyName && !isOurs(name(exchange.authority()))) {
            throw new ApiException(
                    ErrorKind.HOST_NOT_ALLOWED,
                    "this server was called by a name that is not its own: call it localhost,"
                            + " or allow the name with --allowed-hosts");
        }
        next.handle(exchange);
    }

    private boolean isOurs(String name) {
        return names.contains(name) || name.endsWith("." + LOCAL) || isOurAddress(name);
    }

    private boolean isOurAddress(String name) {
        try {
            return InetAddress.ofLiteral(name).isLoopbackAddress() || !isLoopback;
        } catch (IllegalArgumentException noAddress) {
            return false;
        }
    }

    /** The name of an authority, without its port. */
    private static String name(String authority) {
        String text = authority.strip();
        int end = text.startsWith("[") ? text.indexOf(']') + 1 : text.lastIndexOf(':');
        return plain(end <= 0 ? text : text.substring(0, end));
    }

    private static String plain(String name) {
        String text = name.toLowerCase(Locale.ROOT);
        if (text.startsWith("[") && text.endsWith("]")) {
            return text.substring(1, text.length() - 1);
        }
        return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }
}
