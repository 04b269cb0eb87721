package roselle.server.http;

import java.util.List;

/**
 * What an API's clients expect beside its paths: the shape of errors, how they present their keys, how streams are framed, by
 * which headers they learn of their limits. An open interface: each API has its own.
 */
public interface Conventions {
    /** A failure in the API's words, with the API's status. */
    ErrorAnswer error(ApiException error);

    /** How clients present their keys. */
    Credentials credentials();

    StreamFormat streamFormat();

    /** Tells a client, by headers of the answer, what is left of one of its limits. */
    void tell(Exchange exchange, Quota quota);

    /** The headers of {@link #tell}, which scripts of allowed pages may read. */
    List<String> quotaHeaders();
}
