package roselle.quantization;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import roselle.api.CheckpointException;
import roselle.checkpoint.Metadata;

/** The fields of a {@code quantization_config}, of which none may be ignored. */
record MethodFields(Metadata config, String method) {
    MethodFields(Metadata config) {
        this(config, config.string("quant_method"));
    }

    /** Fields of an object within. */
    MethodFields within(Metadata object) {
        return new MethodFields(object, method);
    }

    /** Fails at a field that is set and not among those that a method knows. */
    void requireOnly(Set<String> known) {
        for (String key : config.keys()) {
            if (config.has(key) && !known.contains(key)) {
                throw new CheckpointException(config.origin() + ": " + key + " is not a field that Roselle knows for "
                        + method() + "; running the model without it could be wrong");
            }
        }
    }

    /** Fails where a field is there and none of these. */
    void requireOneOf(String key, List<String> supported) {
        if (config.has(key) && !supported.contains(config.string(key))) {
            throw unsupported(key, config.string(key), String.join(" or ", supported));
        }
    }

    /** Names of modules that these fields list, all together. */
    List<String> modules(String... keys) {
        var modules = new ArrayList<String>();
        for (String key : keys) {
            if (config.has(key)) {
                modules.addAll(config.strings(key));
            }
        }
        return List.copyOf(modules);
    }

    CheckpointException unsupported(String key, String value, String supported) {
        return new CheckpointException(config.origin() + ": " + key + " is " + value + "; supported is " + supported);
    }
}
