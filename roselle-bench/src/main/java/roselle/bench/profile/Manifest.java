package roselle.bench.profile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** {@code profile_manifest.json}: which profiles were made, with what, and why others were not. */
public final class Manifest {
    public static final String SCHEMA = "roselle.bench.profiles/1";

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private final Path folder;
    private final List<Map<String, Object>> entries = new ArrayList<>();

    public Manifest(Path folder) {
        this.folder = folder;
    }

    /** A profile and its files, which may be a folder of them. */
    public void add(String backend, ProfileKind kind, List<String> command, List<Path> files, String note) {
        entries.add(entry(
                backend,
                kind,
                note,
                command,
                files.stream().flatMap(this::within).toList()));
    }

    /** A profile that could not be made. */
    public void addFailure(String backend, ProfileKind kind, String reason) {
        entries.add(entry(backend, kind, reason, List.of(), List.of()));
    }

    private static Map<String, Object> entry(
            String backend, ProfileKind kind, String note, List<String> command, List<String> files) {
        var entry = new LinkedHashMap<String, Object>();
        entry.put("backend", backend);
        entry.put("kind", kind.label());
        entry.put("note", note);
        entry.put("command", command);
        entry.put("files", files);
        return entry;
    }

    private Stream<String> within(Path file) {
        return regular(file).map(each -> folder.relativize(each).toString());
    }

    private static Stream<Path> regular(Path file) {
        if (!Files.isDirectory(file)) {
            return Files.exists(file) ? Stream.of(file) : Stream.empty();
        }
        try (Stream<Path> files = Files.walk(file)) {
            return files.filter(Files::isRegularFile).toList().stream();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Whether a profile's file, or its folder of files, holds nothing. */
    public static boolean isEmpty(Path file) {
        return regular(file).mapToLong(each -> each.toFile().length()).sum() == 0;
    }

    public void write() {
        var document = new LinkedHashMap<String, Object>();
        document.put("schema", SCHEMA);
        document.put("meaning", "made after the measured runs, by processes of their own: no figure comes from here");
        document.put("profiles", entries);
        try {
            Files.writeString(folder.resolve("profile_manifest.json"), MAPPER.writeValueAsString(document));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
