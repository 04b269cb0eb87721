package roselle.server.prompt;

import java.util.List;
import roselle.server.config.ServedModel;
import roselle.server.http.ApiException;
import roselle.server.http.JsonFields;

/** Reads texts before which an answer ends. */
public final class StopStrings {
    private static final int MOST = 64;
    private static final int LONGEST = 4096;

    private StopStrings() {}

    /** The texts of a field; where it is not there, those of whoever made the model. */
    public static List<String> read(JsonFields fields, String name, ServedModel model) {
        return fields.has(name) ? read(fields, name) : model.defaults().stops();
    }

    /** The texts of a field: one, several or none. */
    private static List<String> read(JsonFields fields, String name) {
        List<String> stops = fields.strings(name, MOST);
        for (String stop : stops) {
            int characters = stop.codePointCount(0, stop.length());
            if (stop.isEmpty() || characters > LONGEST) {
                throw ApiException.invalid(
                        fields.path(name),
                        fields.path(name) + " has a text of " + characters
                                + " characters: each must have between 1 and " + LONGEST);
            }
        }
        return stops;
    }
}
