package roselle.engine;

import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import roselle.api.InvalidRequestException;
import roselle.api.InvalidRequestException.Reason;
import roselle.api.Prompt;
import roselle.api.ResponseFormat;
import roselle.api.ToolUse;
import roselle.api.ToolUse.Choice;
import roselle.conversation.ConversationFormat;
import roselle.structured.CompiledFormats;
import roselle.structured.HeldCalls;
import roselle.structured.Tools;

/** Answers that call tools as a request wants it: in any case, or in no other way than its schemas and its format say. */
final class ToolCalls {
    private ToolCalls() {}

    private static boolean areForced(ToolUse use) {
        return use.choice() == Choice.REQUIRED || use.choice() == Choice.NAMED;
    }

    /** Whether what a conversation's answers call is held to anything; where it is not, calls are free. */
    static boolean areHeld(Prompt.Chat chat, ResponseFormat format) {
        if (areForced(chat.toolUse())) {
            return true;
        }
        List<Map<String, Object>> tools = chat.callable();
        boolean isText = format instanceof ResponseFormat.Text;
        return !tools.isEmpty()
                && (!isText
                        || !chat.toolUse().allowed().isEmpty()
                        || tools.stream().anyMatch(Tools::isStrict));
    }

    /** Refuses a conversation whose tools cannot be called as it wants. */
    static void require(Prompt.Chat chat, ResponseFormat format) {
        ToolUse use = chat.toolUse();
        for (String allowed : use.allowed()) {
            if (chat.tools().stream().noneMatch(tool -> Tools.name(tool).equals(allowed))) {
                throw refusal(Reason.INVALID, "tool_choice allows " + allowed + ", which is none of the tools");
            }
        }
        if (!areHeld(chat, format)) {
            return;
        }
        List<Map<String, Object>> tools = tools(chat);
        if (tools.isEmpty()) {
            String which = use.choice() == Choice.NAMED ? use.name() + ", which is none" : "one";
            throw refusal(Reason.INVALID, "tool_choice forces a call of " + which + " of the tools");
        }
        for (Map<String, Object> tool : tools) {
            if (!isPlain(Tools.name(tool))) {
                throw refusal(
                        Reason.UNSUPPORTED,
                        "calls are held to a format, and the tool " + Tools.name(tool)
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

    /** What answers are held to. */
    static HeldCalls held(Prompt.Chat chat, ResponseFormat content, ConversationFormat format) {
        return new HeldCalls(
                format.calls(),
                tools(chat),
                chat.toolUse().isParallel(),
                areForced(chat.toolUse()),
                format.thoughts().finalChannels(),
                content);
    }

    /** Tools with {@code strict} where they leave it out: true if calls of them can be held to their schemas. */
    static List<Map<String, Object>> strictWherePossible(
            List<Map<String, Object>> tools, ConversationFormat format, CompiledFormats compiler) {
        HeldCalls all = calls(format, tools);
        boolean canHold = format.canCall()
                && tools.stream().allMatch(tool -> isPlain(Tools.name(tool)))
                && compiler.canWrite(all);
        BitSet held = canHold && !tools.stream().allMatch(Tools::saysStrict) ? compiler.holdable(all) : new BitSet();
        return IntStream.range(0, tools.size())
                .mapToObj(at ->
                        Tools.saysStrict(tools.get(at)) ? tools.get(at) : Tools.strict(tools.get(at), held.get(at)))
                .toList();
    }

    private static HeldCalls calls(ConversationFormat format, List<Map<String, Object>> tools) {
        return new HeldCalls(
                format.calls(), tools, true, false, format.thoughts().finalChannels(), ResponseFormat.TEXT);
    }

    private static List<Map<String, Object>> tools(Prompt.Chat chat) {
        ToolUse use = chat.toolUse();
        return chat.tools().stream()
                .filter(tool -> use.choice() == Choice.NAMED
                        ? Tools.name(tool).equals(use.name())
                        : use.allowed().isEmpty() || use.allowed().contains(Tools.name(tool)))
                .toList();
    }
}
