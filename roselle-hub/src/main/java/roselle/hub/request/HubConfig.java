package roselle.hub.request;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;
import roselle.api.InvalidRequestException;

/**
 * Where models come from and where they are kept.
 *
 * @param endpoint the hub, such as {@code https://huggingface.co}; the token is sent to this scheme, host and port alone
 * @param token of the user, where there is one
 * @param cache the folder that holds {@code models--org--name}
 * @param isOffline whether the cache has to do
 * @param transfer how bytes are moved
 */
public record HubConfig(URI endpoint, Optional<String> token, Path cache, boolean isOffline, TransferOptions transfer) {
    public static final URI PUBLIC = URI.create("https://huggingface.co");

    public HubConfig {
        boolean isHttp =
                "http".equalsIgnoreCase(endpoint.getScheme()) || "https".equalsIgnoreCase(endpoint.getScheme());
        if (!isHttp || endpoint.getHost() == null || endpoint.getRawQuery() != null || endpoint.getUserInfo() != null) {
            throw new InvalidRequestException("the hub's address is '" + endpoint
                    + "', which is no http or https address of a host: write one such as " + PUBLIC);
        }
        if (token.isPresent() && !isPlain(token.get())) {
            throw new InvalidRequestException(
                    "the hub's token has characters that no token has: log in again, or set HF_TOKEN to the token alone");
        }
    }

    public HubConfig withOffline() {
        return new HubConfig(endpoint, token, cache, true, transfer);
    }

    private static boolean isPlain(String token) {
        return !token.isEmpty() && token.chars().allMatch(character -> character > ' ' && character < 127);
    }

    /** Everything but the token. */
    @Override
    public String toString() {
        return "HubConfig[endpoint=" + endpoint + ", cache=" + cache + ", isOffline=" + isOffline + ", transfer="
                + transfer + "]";
    }
}
