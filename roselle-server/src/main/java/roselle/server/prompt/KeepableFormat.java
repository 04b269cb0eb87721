package roselle.server.prompt;

import java.util.function.Supplier;
import roselle.api.InvalidRequestException;
import roselle.api.ResponseFormat;
import roselle.engine.Engine;
import roselle.server.http.ApiException;

/** Formats that an engine can hold answers to; others are refused with the place of the field that asks for them. */
public final class KeepableFormat {
    private KeepableFormat() {}

    /** The format that {@code maker} makes, which may refuse, too. */
    public static ResponseFormat of(Engine engine, String path, Supplier<ResponseFormat> maker) {
        try {
            ResponseFormat format = maker.get();
            engine.requireKeepable(format);
            return format;
        } catch (InvalidRequestException refused) {
            throw ApiException.invalid(path, path + ": " + refused.getMessage());
        }
    }
}
