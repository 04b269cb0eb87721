package roselle.server.http;

import java.util.List;
import java.util.Map;

/**
 * What an API's clients expect beside its paths: the shape of errors, how they present their keys, how streams are framed, by
 * which headers they learn of their limits. An open interface: each API has its own.
 */
public interface Conventions {
    /** The header that every answer has, whichever API it is of. */
    String REQUEST_ID = "x-request-id";

    /**
     * A failure in the API's words, with the API's status.
     *
     * @param requestId the id of the request that failed; empty where it was refused before it had one
     */
    ErrorAnswer error(ApiException error, String requestId);

    /**
     * The same as fields behind an answer (trailers), of an API that tells of its ends there; none where errors are documents.
     */
    default Map<String, String> trailers(ApiException error) {
        return Map.of();
    }

    /** The header in which the API's clients look for the id of a request; answers have {@link #REQUEST_ID} in any case. */
    default String requestIdHeader() {
        return REQUEST_ID;
    }

    /** Whether a body is taken for JSON whatever its content type is, as some clients send it. */
    default boolean readsAnyContentType() {
        return false;
    }

    /** How clients present their keys. */
    Credentials credentials();

    StreamFormat streamFormat();

    /** Tells a client, by headers of the answer, what is left of one of its limits; nothing where clients read no such headers. */
    default void tell(Exchange exchange, Quota quota) {}

    /** The headers of {@link #tell}, which scripts of allowed pages may read. */
    default List<String> quotaHeaders() {
        return List.of();
    }
}
