package roselle.hub.text;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import javax.net.ssl.SSLException;

/** Says in words what a network did, where Java's exceptions often say nothing. */
public final class NetworkText {
    private NetworkText() {}

    public static String of(Throwable failure) {
        return switch (failure) {
            case HttpConnectTimeoutException _ -> "no connection in time";
            case HttpTimeoutException _ -> "no answer in time";
            case UnknownHostException _, UnresolvedAddressException _ -> "the host is not known";
            case ConnectException connect
            when connect.getCause() instanceof UnresolvedAddressException -> "the host is not known";
            case ConnectException _ -> "no connection";
            case SSLException tls -> "no secure connection: " + words(tls);
            case Throwable other -> words(other);
        };
    }

    public static String words(Throwable failure) {
        String message = failure.getMessage();
        return message == null ? failure.getClass().getSimpleName() : SafeText.of(message);
    }
}
