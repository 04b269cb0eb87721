package roselle.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import roselle.bench.profile.Manifest;
import roselle.bench.profile.ProfileKind;
import roselle.bench.report.CapacityResults;
import roselle.bench.report.OfflineResults;
import roselle.bench.report.OnlineResults;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class ResultSchemaTest {
    @TempDir
    private Path folder;

    @Test
    void namesTheVersionThatIsWritten() throws IOException {
        for (String name :
                List.of(OnlineResults.SCHEMA, OfflineResults.SCHEMA, CapacityResults.SCHEMA, Manifest.SCHEMA)) {
            String kind = name.substring("roselle.bench.".length(), name.indexOf('/'));

            assertThat(faults(kind, "{\"schema\": \"" + name + "\"}"))
                    .isNotEmpty()
                    .noneMatch(each -> each.contains("$.schema"));
            assertThat(faults(kind, "{\"schema\": \"" + name + "1\"}")).anyMatch(each -> each.contains("$.schema"));
        }
    }

    @Test
    void documentsEveryField() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "benchmark-results.md"));

        for (String kind : List.of("online", "offline", "capacity", "profiles")) {
            assertThat(ResultSchema.of(kind).fields())
                    .hasSizeGreaterThanOrEqualTo(kind.equals("profiles") ? 7 : 20)
                    .allSatisfy(field -> assertThat(page).as(field).contains(field));
        }
    }

    @Test
    void holdsTheListOfProfiles() throws IOException {
        Path recording = Files.writeString(folder.resolve("ours.jfr"), "a recording");
        var manifest = new Manifest(folder);
        manifest.add(
                "ours", ProfileKind.JFR, List.of("roselle", "serve"), List.of(recording, folder.resolve("no")), "");
        manifest.addFailure("theirs", ProfileKind.NSYS, "nsys is not there");
        manifest.write();

        JsonNode written = new JsonMapper().readTree(Files.readAllBytes(folder.resolve("profile_manifest.json")));

        assertThat(ResultSchema.of("profiles").faults(written)).isEmpty();
        assertThat(written.path("profiles").path(0).path("files"))
                .extracting(JsonNode::asString)
                .containsExactly("ours.jfr");
        assertThat(written.path("profiles").path(1).path("note").asString()).isEqualTo("nsys is not there");
        assertThat(faults("profiles", "{\"profiles\": [{\"kind\": \"gdb\"}]}"))
                .contains("$.profiles[0] has no files")
                .anyMatch(each -> each.startsWith("$.profiles[0].kind is none of"));
    }

    /** The saboteur: a field too many, one too few, one of another type, one below its least value. */
    @Test
    void findsWhatIsWrong() throws IOException {
        assertThat(faults(
                        "offline", "{\"failures\": [{\"backend\": 1, \"failure\": \"x\", \"more\": 2}], \"runs\": 3}"))
                .contains(
                        "$ has no schema",
                        "$.failures[0].backend is no string",
                        "$.failures[0].more is in no schema",
                        "$.runs is no array");
        assertThat(faults("offline", "{\"runs\": [{\"requests\": -1, \"path\": \"by air\"}]}"))
                .contains("$.runs[0].requests is below its least value")
                .anyMatch(each -> each.startsWith("$.runs[0].path is none of"));
    }

    private static List<String> faults(String kind, String json) throws IOException {
        return ResultSchema.of(kind).faults(new JsonMapper().readTree(json));
    }
}
