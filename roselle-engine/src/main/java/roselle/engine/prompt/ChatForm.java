package roselle.engine.prompt;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import roselle.api.Prompt;
import roselle.conversation.ConversationFormat;
import roselle.conversation.FormatFinder;
import roselle.jinja.ChatTemplate;
import roselle.tokenizer.Tokenizer;

/** A chat template, and what answers to the prompts that it writes look like; thread-safe. */
public final class ChatForm {
    private static final String TOOLS = "tools";

    private final Optional<ChatTemplate> template;
    private final FormatFinder formats;
    private final String toolParser;
    private final ConversationFormat withoutTools;
    private volatile @Nullable ConversationFormat withTools; // found when first needed: the template is rendered for it

    /**
     * A form.
     *
     * @param source the template's text; empty for none
     * @param toolParser the name of the format of calls, or how it is found
     */
    ChatForm(Tokenizer tokenizer, String source, Optional<ChatTemplate> template, String toolParser) {
        this.template = template;
        this.toolParser = toolParser;
        formats = new FormatFinder(tokenizer, source, template);
        withoutTools = formats.findWithoutTools();
    }

    public Optional<ChatTemplate> template() {
        return template;
    }

    /** Whether the template mentions a variable of this name, so that setting it may change something. */
    public boolean mentions(String variable) {
        return template.filter(known -> known.mentions(variable)).isPresent();
    }

    /** What answers look like where no tools are offered. */
    public ConversationFormat withoutTools() {
        return withoutTools;
    }

    /** What answers look like where tools are offered. */
    public ConversationFormat withTools() {
        ConversationFormat known = withTools;
        if (known == null) {
            known = formats.find(toolParser);
            withTools = known;
        }
        return known;
    }

    /** What answers to a prompt look like. */
    public ConversationFormat format(Prompt prompt) {
        boolean hasTools =
                prompt instanceof Prompt.Chat chat && !chat.callable().isEmpty();
        return hasTools ? withTools() : withoutTools;
    }

    /** How the format of calls is found: there is none where a template tells no model of tools. */
    static String toolParser(ChatTemplate template, String toolParser) {
        return template.mentions(TOOLS) ? toolParser : "none";
    }
}
