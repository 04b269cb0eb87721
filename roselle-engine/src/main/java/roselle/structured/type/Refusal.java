package roselle.structured.type;

import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;

/** Refuses types that no answer can be of; each message begins with the place. */
final class Refusal {
    static final String FIELD = "type";

    private Refusal() {}

    static InvalidRequestException at(String path, String what) {
        return new InvalidRequestException(Reason.UNSUPPORTED, FIELD, path + ": " + what);
    }
}
