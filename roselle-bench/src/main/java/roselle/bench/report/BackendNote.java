package roselle.bench.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a result says of an engine that was measured, or was to be.
 *
 * @param command that started it; empty for one that ran already
 * @param readySeconds from its start until it was ready; 0 for one that ran already
 * @param promptFormat ids or text
 * @param gpus that it uses; 0 on a machine without one
 * @param failure why there are no figures, or not all
 */
public record BackendNote(
        String name,
        String profile,
        String url,
        String model,
        String version,
        List<String> command,
        double readySeconds,
        String promptFormat,
        int gpus,
        String note,
        Optional<String> failure) {
    public BackendNote {
        command = List.copyOf(command);
    }

    Map<String, Object> fields() {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("name", name);
        fields.put("profile", profile);
        fields.put("url", url);
        fields.put("model", model);
        fields.put("version", version);
        fields.put("command", command);
        fields.put("ready_seconds", Fields.rounded(readySeconds));
        fields.put("prompt_format", promptFormat);
        fields.put("gpus", gpus);
        fields.put("note", note);
        failure.ifPresent(text -> fields.put("failure", text));
        return fields;
    }
}
