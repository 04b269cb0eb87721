package roselle.grammar.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import roselle.grammar.Constraints;
import roselle.grammar.GrammarLimits;
import roselle.grammar.automaton.Constraint;
import roselle.grammar.automaton.GrammarException;
import roselle.grammar.automaton.State;
import roselle.grammar.schema.SchemaOptions;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Runs a folder of the JSON-Schema-Test-Suite: {@code TestSuite FOLDER plain|formats|generating [REMOTES [METASCHEMAS]]}. Prints
 * how many tests pass, are refused, or are wrong. The suite asks which values are valid, and so every spelling of them is read;
 * "generating" asks for the spellings alone that a model may write, which leaves out {@code 1.0} for an integer.
 */
public final class TestSuite {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    private TestSuite() {}

    public static void main(String[] arguments) throws IOException {
        boolean assertsFormats = arguments.length > 1 && arguments[1].equals("formats");
        Map<String, String> documents = new HashMap<>();
        if (arguments.length > 2) {
            addRemotes(Path.of(arguments[2]), documents);
        }
        for (int i = 3; i < arguments.length; i++) {
            addById(Path.of(arguments[i]), documents);
        }
        String dialect = arguments[0].contains("draft4")
                ? "http://json-schema.org/draft-04/schema#"
                : arguments[0].contains("draft6")
                        ? "http://json-schema.org/draft-06/schema#"
                        : arguments[0].contains("draft7")
                                ? "http://json-schema.org/draft-07/schema#"
                                : arguments[0].contains("2019") ? "https://json-schema.org/draft/2019-09/schema" : "";
        boolean isGenerating = arguments.length > 1 && arguments[1].equals("generating");
        SchemaOptions usual = isGenerating ? SchemaOptions.GENERATING : SchemaOptions.CHECKING;
        SchemaOptions options = new SchemaOptions(
                usual.whitespace(), usual.allowsAnyEscape(), usual.keyOrder(), assertsFormats, documents);
        int[] counts = new int[4]; // pass, refused, too narrow, too wide
        List<Path> files;
        try (Stream<Path> found = Files.list(Path.of(arguments[0]))) {
            files = found.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
        for (Path file : files) {
            for (JsonNode group : MAPPER.readTree(Files.readString(file))) {
                run(file.getFileName().toString(), group, dialect, options, counts);
            }
        }
        int all = counts[0] + counts[1] + counts[2] + counts[3];
        System.out.printf(
                "tests %d, pass %d (%.1f %%), refused %d, too narrow %d, too wide %d%n",
                all, counts[0], 100.0 * counts[0] / all, counts[1], counts[2], counts[3]);
    }

    private static void addRemotes(Path folder, Map<String, String> documents) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file :
                    files.filter(file -> file.toString().endsWith(".json")).toList()) {
                documents.put("http://localhost:1234/" + folder.relativize(file), Files.readString(file));
            }
        }
    }

    private static void addById(Path folder, Map<String, String> documents) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String text = Files.readString(file);
                JsonNode node = MAPPER.readTree(text);
                String id = node.path("$id").asString(node.path("id").asString(""));
                documents.put(id.endsWith("#") ? id.substring(0, id.length() - 1) : id, text);
            }
        }
    }

    private static void run(String file, JsonNode group, String dialect, SchemaOptions options, int[] counts) {
        JsonNode schema = group.get("schema");
        if (!dialect.isEmpty() && schema.isObject() && !schema.has("$schema")) {
            ((tools.jackson.databind.node.ObjectNode) schema).put("$schema", dialect);
        }
        Constraint constraint = null;
        boolean isEmpty = false;
        try {
            constraint = Constraints.jsonSchema(schema.toString(), options, GrammarLimits.DEFAULTS);
        } catch (GrammarException refusal) {
            isEmpty = refusal.reason() == GrammarException.Reason.EMPTY;
            if (!isEmpty) {
                counts[1] += group.get("tests").size();
                System.out.println(file + " refused: " + group.get("description") + " " + refusal.getMessage());
                return;
            }
        } catch (RuntimeException | StackOverflowError fault) {
            counts[2] += group.get("tests").size();
            System.out.println(file + " FAULT: " + group.get("description") + " " + fault + " "
                    + (fault.getStackTrace().length > 0 ? fault.getStackTrace()[0] : ""));
            return;
        }
        for (JsonNode test : group.get("tests")) {
            String text = JsonSpelling.of(test.get("data"), JsonSpelling.Style.PLAIN);
            String said = isEmpty ? "no" : accepts(constraint, text);
            boolean isValid = test.get("valid").booleanValue();
            if (said.startsWith("refused")) {
                counts[1]++;
                System.out.println(
                        file + " " + said + ": " + group.get("description") + " / " + test.get("description"));
            } else if (said.equals("yes") == isValid) {
                counts[0]++;
            } else {
                counts[isValid ? 2 : 3]++;
                System.out.println(file + (isValid ? " TOO NARROW: " : " TOO WIDE: ") + group.get("description") + " / "
                        + test.get("description") + " " + said + " " + text);
            }
        }
    }

    static String accepts(Constraint constraint, String text) {
        try {
            State at = constraint.start();
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            for (int i = 0; i < bytes.length; i++) {
                at = at.advance(bytes[i] & 0xFF);
                if (at == null) {
                    return "no, at byte " + i;
                }
            }
            return at.isAccepting() ? "yes" : "no, not at the end";
        } catch (GrammarException refusal) {
            return "refused " + refusal.getMessage();
        }
    }
}
