package roselle.bench.report;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import roselle.bench.environment.Machine;

/** What every result begins with: versions, revision, machine, command line, times. */
public final class Meta {
    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final Instant started = Instant.now();

    /**
     * Begins now.
     *
     * @param version of Roselle and of Java
     * @param commandLine as it was given
     */
    public Meta(String version, List<String> commandLine) {
        fields.put("roselle", version);
        fields.put("git_revision", Machine.gitRevision().orElse("unknown"));
        fields.put("machine", Machine.describe());
        fields.put("command_line", List.copyOf(commandLine));
        fields.put("started", started.toString());
    }

    /** The fields, with the time until now. */
    Map<String, Object> fields() {
        var all = new LinkedHashMap<>(fields);
        all.put(
                "wall_seconds",
                Fields.rounded(Duration.between(started, Instant.now()).toMillis() / 1e3));
        return all;
    }
}
