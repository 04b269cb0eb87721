package roselle.structured;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import roselle.api.ResponseFormat;
import roselle.conversation.format.CallFormat;
import roselle.conversation.format.CallShapes;
import roselle.conversation.format.Layout;
import roselle.conversation.format.Shape;

/**
 * What an answer that may call tools is held to. Equal ones are compiled once.
 *
 * @param format in which the model calls
 * @param tools that may be called, in the JSON form of OpenAI's {@code tools}
 * @param isParallel whether there may be several calls
 * @param mustCall whether the answer is calls in any case, and all arguments are as the tools' schemas say, {@link ClosedArguments
 *     closed}; else those of strict tools alone
 * @param channels marks of channels in which the model's answers stand; none of most models
 * @param content what the answer is if it calls nothing
 */
public record HeldCalls(
        CallFormat format,
        List<Map<String, Object>> tools,
        boolean isParallel,
        boolean mustCall,
        List<String> channels,
        ResponseFormat content) {
    public HeldCalls {
        tools = List.copyOf(tools);
        channels = List.copyOf(channels);
    }

    /** The same of one tool alone, strict. */
    HeldCalls only(int tool) {
        return new HeldCalls(
                format, List.of(Tools.strict(tools.get(tool), true)), isParallel, mustCall, channels, content);
    }

    Shape shape() {
        var shapes = new CallShapes(format);
        if (mustCall) {
            return shapes.callsOnly(tools.stream().map(Tools::closed).toList(), isParallel, channels);
        }
        List<Map<String, Object>> held = tools.stream()
                .map(tool -> Tools.isStrict(tool) ? Tools.closed(tool) : Tools.relaxed(tool, shapes.writesProperties()))
                .toList();
        return content instanceof ResponseFormat.Text
                ? shapes.textOrCalls(held, isParallel)
                : shapes.contentOrCalls(held, isParallel, channels);
    }

    /** A name, of a tool or of a parameter, that cannot be written as Python's calls have them; empty for none. */
    String unwritableName() {
        if (!(format.layout() instanceof Layout.Python)) {
            return "";
        }
        return tools.stream()
                .flatMap(tool -> Stream.concat(Stream.of(Tools.name(tool)), Tools.properties(tool).stream()))
                .filter(name -> !isPythons(name))
                .findFirst()
                .orElse("");
    }

    private static boolean isPythons(String name) {
        return !name.isEmpty()
                && (Character.isLetter(name.charAt(0)) || name.charAt(0) == '_')
                && name.chars()
                        .allMatch(letter ->
                                letter < 0x80 && (Character.isLetterOrDigit(letter) || "_.-".indexOf(letter) >= 0));
    }

    /** Whether a call cannot be told from text. */
    boolean isUnmarked() {
        return !new CallShapes(format).isMarked();
    }

    /** Whether arguments are written one by one, by the properties that a tool's schema names. */
    boolean writesProperties() {
        return new CallShapes(format).writesProperties();
    }
}
