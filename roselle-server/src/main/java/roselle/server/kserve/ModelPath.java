package roselle.server.kserve;

import java.util.Optional;
import roselle.server.answer.ListedModel;
import roselle.server.answer.Models;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.ErrorKind;
import roselle.server.http.Exchange;

/**
 * What stands below {@code /v2/models/}: a model's name, in which slashes may be, and perhaps a version.
 *
 * @param version empty where none is named
 */
record ModelPath(String model, String version) {
    /** Models have one, which is their files'. */
    static final String VERSION = "1";

    private static final String VERSIONS = "/versions/";

    static ModelPath of(Exchange exchange) {
        String rest = exchange.rest();
        int at = rest.lastIndexOf(VERSIONS);
        return at < 0
                ? new ModelPath(rest, "")
                : new ModelPath(rest.substring(0, at), rest.substring(at + VERSIONS.length()));
    }

    /** The model of this name, which generates. */
    ServedModel in(Models models) {
        ServedModel served = models.named(Optional.of(model));
        requireVersion(served.name());
        return served;
    }

    /** The same, whether loaded or not. */
    ListedModel listed(Models models) {
        ListedModel listed = models.listed(model);
        requireVersion(listed.name());
        return listed;
    }

    private void requireVersion(String name) {
        if (!version.isEmpty() && !version.equals(VERSION)) {
            throw new ApiException(
                    ErrorKind.MODEL_NOT_FOUND, "model " + name + " has no such version: it has " + VERSION);
        }
    }
}
