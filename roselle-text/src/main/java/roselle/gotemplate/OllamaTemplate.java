package roselle.gotemplate;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import roselle.api.InvalidRequestException;
import roselle.gotemplate.OllamaMessages.Message;
import roselle.gotemplate.run.Execution;
import roselle.gotemplate.run.Functions;
import roselle.gotemplate.syntax.FieldNames;
import roselle.gotemplate.syntax.Node;
import roselle.gotemplate.syntax.Parser;
import roselle.gotemplate.syntax.Pipeline;
import roselle.gotemplate.syntax.Templates;
import roselle.gotemplate.syntax.Term;
import roselle.gotemplate.value.Dictionary;
import roselle.gotemplate.value.Slice;
import roselle.gotemplate.value.Spelling;
import roselle.jinja.ChatTemplate;
import roselle.jinja.syntax.SourceLocation;
import roselle.jinja.text.Limits;
import roselle.jinja.text.TemplateFault;

/**
 * A template of a model of Ollama's. One that mentions messages is rendered once, about all of them; an older one is rendered for each turn
 * of a system message, a prompt and a response, and ends where the response of the last turn is to stand.
 */
public final class OllamaTemplate implements ChatTemplate {
    /** The variable that has the text behind the gap which the answer is to fill. */
    public static final String SUFFIX = "suffix";

    private static final String RESPONSE = "Response";

    /** What Ollama's templates call the variables of chat templates in Jinja that say how much to think. */
    private static final Map<String, String> EFFORT =
            Map.of("reasoning_effort", "thinklevel", "enable_thinking", "think");

    private final SourceLocation location;
    private final Templates templates;
    private final Set<String> names;
    private final List<Node> open;

    private OllamaTemplate(SourceLocation location, Templates templates, Set<String> names) {
        this.location = location;
        this.templates = templates;
        this.names = names;
        open = UpToResponse.of(templates.root());
    }

    /**
     * Parses a template.
     *
     * @param name what error messages call the template
     * @throws InvalidRequestException naming line and column
     */
    public static OllamaTemplate parse(String name, String source) {
        if (source.length() > Limits.SOURCE_CHARACTERS) {
            throw new InvalidRequestException("template '" + name + "' has " + source.length() + " characters: at most "
                    + Limits.SOURCE_CHARACTERS + " are read");
        }
        var location = new SourceLocation(name, source);
        try {
            Templates parsed = Parser.parse(source, Functions.NAMES);
            Set<String> names = FieldNames.of(parsed);
            boolean answers = names.contains("messages") || names.contains("response");
            return new OllamaTemplate(location, answers ? parsed : withResponse(parsed, source.length()), names);
        } catch (TemplateFault fault) {
            throw location.exception(fault, 0);
        }
    }

    /** A template that does not say where a response stands has it at its end. */
    private static Templates withResponse(Templates parsed, int at) {
        var response = new Pipeline.Command(List.of(new Term.Field(List.of(RESPONSE), at)));
        List<Node> root = new ArrayList<>(parsed.root());
        root.add(new Node.Action(new Pipeline(List.of(), false, List.of(response), at), at));
        return new Templates(root, parsed.defined());
    }

    /** The variables of chat templates in Jinja have other names here. */
    @Override
    public boolean mentions(String variable) {
        return names.contains(EFFORT.getOrDefault(variable, variable).toLowerCase(Locale.ROOT));
    }

    @Override
    public boolean writesBeginning() {
        return false;
    }

    @Override
    public String render(Map<String, ?> variables, LocalDateTime now) {
        var execution = new Execution(templates, now, Limits.DEFAULT);
        try {
            render(execution, variables);
            return execution.output();
        } catch (TemplateFault fault) {
            throw location.exception(fault, execution.at());
        } catch (StackOverflowError _) {
            // The limits on depth come first on any thread with a stack of the usual size.
            throw location.exception(
                    new TemplateFault("the template is nested too deeply for this thread's stack"), execution.at());
        }
    }

    private void render(Execution execution, Map<String, ?> variables) {
        Map<String, Object> common = thinking(variables);
        List<Message> messages = OllamaMessages.read(variables.get("messages"));
        if (variables.get(SUFFIX) instanceof String suffix) {
            common.put("Prompt", messages.isEmpty() ? "" : messages.getLast().content());
            common.put("Suffix", suffix);
            common.put(RESPONSE, "");
            execution.run(templates.root(), data(common));
        } else if (names.contains("messages")) {
            List<Message> collated = OllamaMessages.collated(messages);
            common.put("System", OllamaMessages.system(messages));
            common.put(
                    "Messages",
                    new Slice(List.copyOf(collated.stream().map(Message::value).toList())));
            common.put("Tools", OllamaTools.read(variables.get("tools")));
            common.put(RESPONSE, "");
            execution.run(templates.root(), data(common));
        } else {
            turns(execution, OllamaMessages.collated(messages), common);
        }
    }

    private static Dictionary data(Map<String, Object> variables) {
        return Dictionary.of(variables, Spelling.PLAIN);
    }

    /** What says how much to think: where nobody said it, models that can think do, as in Ollama's server. */
    private Map<String, Object> thinking(Map<String, ?> variables) {
        boolean canThink = names.contains("thinking") && names.contains("think");
        String usual = canThink ? "medium" : "none";
        boolean isSet = canThink;
        if (variables.get("enable_thinking") instanceof Boolean thinks) {
            usual = thinks ? "medium" : "none";
            isSet = true;
        }
        if (variables.get("reasoning_effort") instanceof String effort) {
            usual = effort;
            isSet = true;
        }
        Map<String, Object> read = new HashMap<>();
        read.put("Think", !usual.equals("none"));
        read.put("ThinkLevel", usual.equals("none") ? "" : usual);
        read.put("IsThinkSet", isSet);
        return read;
    }

    /** One rendering for each turn; the last ends where its response does. */
    private void turns(Execution execution, List<Message> messages, Map<String, Object> common) {
        var turn = new Turn();
        for (Message message : messages) {
            if (turn.endsBefore(message)) {
                execution.run(templates.root(), data(turn.in(common)));
                turn = new Turn();
            }
            turn.take(message);
        }
        execution.run(open, data(turn.in(common)));
    }

    /** What belongs together in an older template. */
    private static final class Turn {
        private String system = "";
        private String prompt = "";
        private String response = "";

        boolean endsBefore(Message message) {
            return switch (message.role()) {
                case "system" -> !prompt.isEmpty() || !response.isEmpty();
                case "user" -> !response.isEmpty();
                default -> false;
            };
        }

        void take(Message message) {
            switch (message.role()) {
                case "system" -> system = message.content();
                case "user" -> prompt = message.content();
                case "assistant" -> response = message.content();
                default -> {}
            }
        }

        Map<String, Object> in(Map<String, Object> common) {
            Map<String, Object> all = new HashMap<>(common);
            all.put("System", system);
            all.put("Prompt", prompt);
            all.put(RESPONSE, response);
            return all;
        }
    }

    /** A template up to the first place that writes the response. */
    private static final class UpToResponse {
        private boolean isOver;

        static List<Node> of(List<Node> nodes) {
            return new UpToResponse().cut(nodes);
        }

        private List<Node> cut(List<Node> nodes) {
            List<Node> kept = new ArrayList<>();
            for (Node node : nodes) {
                if (isOver) {
                    break;
                }
                kept.add(cut(node));
            }
            return kept;
        }

        private Node cut(Node node) {
            return switch (node) {
                case Node.Branch(var kind, var pipeline, var body, var otherwise, int at) ->
                    new Node.Branch(kind, pipeline, cut(body), cut(otherwise), at);
                case Node.Action action -> {
                    isOver = writes(action.pipeline());
                    yield action;
                }
                default -> node;
            };
        }

        private static boolean writes(Pipeline pipeline) {
            return pipeline.commands().stream()
                    .flatMap(command -> command.terms().stream())
                    .anyMatch(UpToResponse::isResponse);
        }

        private static boolean isResponse(Term term) {
            return switch (term) {
                case Term.Field field -> field.names().contains(RESPONSE);
                case Term.Group group -> writes(group.pipeline());
                default -> false;
            };
        }
    }
}
