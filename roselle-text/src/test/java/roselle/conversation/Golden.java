package roselle.conversation;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import roselle.conversation.AnswerPart.Call;
import roselle.conversation.AnswerPart.CallDelta;
import roselle.conversation.AnswerPart.CallStarted;
import roselle.conversation.AnswerPart.Text;
import roselle.conversation.AnswerPart.Thought;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallFormats;
import roselle.conversation.format.ThoughtFormat;
import roselle.conversation.parse.Letters;

/** An answer of goldens.txt, with what it says. */
record Golden(String format, ThoughtFormat thoughts, String prompt, String answer, Told told) {
    /** What an answer says, in the words of all its parts. */
    record Told(String thought, String text, List<String> calls) {}

    private static final Pattern SPECIAL = Pattern.compile(
            "<\\|[^|>]+\\|?>|<[^|<>]+\\|>|<｜[^｜>]+｜>|\\[/?[A-Z_]+]|<(?:start|end)_function_call>|<escape>");

    private static final Letters NO_LETTERS = new Letters(Map.of());
    private static final Map<String, ConversationFormat> FORMATS = new ConcurrentHashMap<>();
    private static final Map<String, Letters> LETTERS = new ConcurrentHashMap<>();

    private static final List<Map<String, Object>> TOOLS = List.of(
            tool("get_weather", Map.of("type", "string"), "city", "days", "opts"),
            tool("get_time", Map.of("type", "string"), "zone"));

    private static Map<String, Object> tool(String name, Map<String, Object> first, String... parameters) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (String parameter : parameters) {
            String type = parameter.equals("days") ? "integer" : "object";
            properties.put(parameter, properties.isEmpty() ? first : Map.of("type", type));
        }
        return Map.of(
                "type",
                "function",
                "function",
                Map.of("name", name, "parameters", Map.of("type", "object", "properties", properties)));
    }

    static List<Golden> all() {
        try (var file = Objects.requireNonNull(Golden.class.getResourceAsStream("goldens.txt"))) {
            String all = new String(file.readAllBytes(), StandardCharsets.UTF_8);
            var goldens = new ArrayList<Golden>();
            String[] sections = all.split("\n=== ");
            for (int index = 1; index < sections.length; index++) {
                goldens.add(of(sections[index]));
            }
            return goldens;
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Golden of(String section) {
        Map<String, String> fields = new HashMap<>();
        var calls = new ArrayList<String>();
        String[] lines = section.split("\n");
        for (int index = 1; index < lines.length; index++) {
            int space = lines[index].indexOf(' ');
            String key = space < 0 ? lines[index] : lines[index].substring(0, space);
            String value = space < 0 ? "" : lines[index].substring(space + 1);
            if (key.equals("call")) {
                calls.add(value);
            } else {
                fields.merge(key, unescaped(value), String::concat);
            }
        }
        String answer = fields.getOrDefault("answer", "");
        String prompt = fields.getOrDefault("prompt", "");
        ThoughtFormat thoughts = fields.containsKey("thoughts")
                ? ThoughtFormat.named(Objects.requireNonNull(fields.get("thoughts")))
                        .orElseThrow()
                : ThoughtFormat.find((prompt + answer)::contains).orElse(ThoughtFormat.NONE);
        var told = new Told(fields.getOrDefault("thought", ""), fields.getOrDefault("text", ""), calls);
        return new Golden(lines[0], thoughts, prompt, answer, told);
    }

    private static String unescaped(String line) {
        return line.replace("\\\\", "\u0001").replace("\\n", "\n").replace('\u0001', '\\');
    }

    private CallFormat calls() {
        return CallFormats.named(format).orElseThrow();
    }

    /** What is told when the answer comes in these pieces. */
    Told read(String... pieces) {
        return read(NO_LETTERS, pieces);
    }

    /** The format, made once as by an engine. */
    private ConversationFormat formatIn(Letters letters) {
        return FORMATS.computeIfAbsent(
                key() + letters.hashCode(), _ -> ConversationFormat.ofText(thoughts, calls(), letters));
    }

    private String key() {
        return format + " " + thoughts.name() + " ";
    }

    private Letters tokenLetters() {
        return LETTERS.computeIfAbsent(key(), _ -> {
            var tokens = new HashMap<String, Integer>();
            ConversationFormatLiterals.of(thoughts, calls())
                    .forEach(literal -> SPECIAL.matcher(literal)
                            .results()
                            .forEach(found -> tokens.putIfAbsent(found.group(), tokens.size())));
            return new Letters(tokens);
        });
    }

    /** The same where a vocabulary has a token for each mark that looks like one; pieces are cut at ends of such tokens. */
    Told readTokens(int... cuts) {
        Letters letters = tokenLetters();
        String spelled = letters.apply(answer);
        var pieces = new ArrayList<String>();
        int begin = 0;
        for (int cut : cuts) {
            int end = Math.min(cut, spelled.length());
            pieces.add(spelled.substring(begin, end));
            begin = end;
        }
        pieces.add(spelled.substring(begin));
        return read(letters, pieces.toArray(String[]::new));
    }

    private Told read(Letters letters, String... pieces) {
        var parser = formatIn(letters).parser(letters.apply(prompt), TOOLS, false);
        var parts = new ArrayList<AnswerPart>();
        for (String piece : pieces) {
            parts.addAll(parser.append(piece));
        }
        parts.addAll(parser.finish(""));
        return told(parts);
    }

    private static Told told(List<AnswerPart> parts) {
        var thought = new StringBuilder();
        var text = new StringBuilder();
        var calls = new ArrayList<String>();
        var deltas = new StringBuilder();
        CallStarted open = null;
        for (AnswerPart part : parts) {
            switch (part) {
                case Thought(String more) -> thought.append(more);
                case Text(String more) -> text.append(more);
                case CallStarted started -> {
                    open = started;
                    deltas.setLength(0);
                }
                case CallDelta(int _, String more) -> deltas.append(more);
                case Call call -> {
                    var same = new CallStarted(calls.size(), call.id(), call.name());
                    if (!same.equals(open) || !deltas.toString().equals(call.arguments())) {
                        throw new AssertionError(call + " is not what was told before: " + open + " " + deltas);
                    }
                    calls.add(call.name() + " " + call.arguments());
                }
            }
        }
        return new Told(thought.toString(), text.toString(), calls);
    }
}
