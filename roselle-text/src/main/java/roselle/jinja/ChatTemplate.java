package roselle.jinja;

import java.time.LocalDateTime;
import java.util.Map;
import roselle.jinja.text.Limits;

/** A compiled chat template, in Jinja unless somebody made it of another language: variables in, a prompt out. Immutable and thread-safe. */
public interface ChatTemplate {
    /**
     * Compiles a template written in the Jinja subset of released models.
     *
     * @param name what error messages call the template, such as the model's name
     * @throws roselle.api.InvalidRequestException naming line and column
     */
    static ChatTemplate compile(String name, String source) {
        return TemplateCompiler.compile(name, source, Limits.DEFAULT);
    }

    /**
     * Renders the template.
     *
     * @param variables strings, numbers, booleans, null, {@code List}s and {@code Map}s with string keys, nested
     * @param now what {@code strftime_now} formats
     * @throws roselle.api.InvalidRequestException naming line and column
     */
    String render(Map<String, ?> variables, LocalDateTime now);

    /** Whether it mentions a variable of this name, so that setting it may change something. */
    boolean mentions(String variable);

    /** Whether it writes the tokens with which texts of its model begin; else who tokenizes adds them. */
    boolean writesBeginning();
}
