package roselle.engine;

import java.util.List;
import java.util.Map;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Prompt;
import roselle.api.ToolUse.Choice;
import roselle.conversation.ConversationFormat;
import roselle.structured.CompiledFormats;
import roselle.structured.FormatMasks;

/** Answers that must call a tool: they are held to the calls of the model's format. */
final class ForcedCalls {
    private ForcedCalls() {}

    static boolean areForced(Prompt.Chat chat) {
        Choice choice = chat.toolUse().choice();
        return choice == Choice.REQUIRED || choice == Choice.NAMED;
    }

    /** Refuses a conversation that has no tool which could be called. */
    static void requireTools(Prompt.Chat chat) {
        List<Map<String, Object>> tools = tools(chat);
        if (tools.isEmpty()) {
            String which =
                    chat.toolUse().choice() == Choice.NAMED ? chat.toolUse().name() + ", which is none" : "one";
            throw refusal(Reason.INVALID, "tool_choice forces a call of " + which + " of the tools");
        }
        for (Map<String, Object> tool : tools) {
            if (!isPlain(name(tool))) {
                throw refusal(
                        Reason.UNSUPPORTED,
                        "tool_choice forces a call, and the tool " + name(tool)
                                + " has a name of other characters than letters, digits, '_', '-', '.' and ':'");
            }
        }
    }

    private static InvalidRequestException refusal(Reason reason, String message) {
        return new InvalidRequestException(reason, "tool_choice", message);
    }

    /** Whether a name stands in every format as it is. */
    private static boolean isPlain(String name) {
        return !name.isEmpty()
                && name.chars()
                        .allMatch(letter -> (letter >= 'a' && letter <= 'z')
                                || (letter >= 'A' && letter <= 'Z')
                                || (letter >= '0' && letter <= '9')
                                || "_-.:".indexOf(letter) >= 0);
    }

    static FormatMasks masks(Prompt.Chat chat, ConversationFormat format, CompiledFormats formats) {
        return formats.compileCalls(format.calls(), tools(chat), chat.toolUse().isParallel());
    }

    private static List<Map<String, Object>> tools(Prompt.Chat chat) {
        return chat.toolUse().choice() == Choice.REQUIRED
                ? chat.tools()
                : chat.tools().stream()
                        .filter(tool -> name(tool).equals(chat.toolUse().name()))
                        .toList();
    }

    private static String name(Map<String, Object> tool) {
        Map<?, ?> function = tool.get("function") instanceof Map<?, ?> inner ? inner : tool;
        return String.valueOf(function.get("name"));
    }
}
