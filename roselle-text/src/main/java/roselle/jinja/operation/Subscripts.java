package roselle.jinja.operation;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;
import roselle.jinja.value.Dictionary;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.PythonText;
import roselle.jinja.value.Range;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Tuple;
import roselle.jinja.value.Types;
import roselle.jinja.value.Undefined;
import roselle.jinja.value.View;

/** Python's {@code x[key]} and {@code x[start:stop:step]}, and what Jinja makes of missing members. */
public final class Subscripts {
    private Subscripts() {}

    /** The member, else the attribute of that name, else an undefined value. */
    public static Object item(Rendering rendering, Object owner, Object key) {
        if (owner instanceof Undefined undefined) {
            throw undefined.fault();
        }
        if (owner instanceof Dictionary dictionary && isHashable(key)) {
            var value = dictionary.find(rendering, key);
            if (value != null) {
                return value;
            }
        }
        if (Numbers.isInteger(key)) {
            return element(owner, key);
        }
        return Types.isText(key)
                ? Attributes.ofSubscript(rendering, owner, PythonText.string(rendering, key))
                : Undefined.element(owner, key);
    }

    public static Object slice(Rendering rendering, Object owner, Object start, Object stop, Object step) {
        int length = length(owner);
        var slice = Slice.of(length, start, stop, step);
        rendering.charge(slice.count());
        return switch (owner) {
            case String text -> text(text, slice);
            case Markup markup -> new Markup(text(markup.text(), slice));
            case Tuple tuple -> new Tuple(pick(tuple.items(), slice));
            case Range range -> range(range, slice);
            default -> pick((List<?>) owner, slice);
        };
    }

    /** Which members a slice takes: {@code count} of them, {@code step} apart. */
    private record Slice(int start, int count, int step) {
        static Slice of(int length, Object start, Object stop, Object step) {
            int stride = step == None.NONE ? 1 : index(step);
            if (stride == 0) {
                throw new TemplateFault("slice step cannot be zero");
            }
            int first = start == None.NONE ? (stride > 0 ? 0 : length - 1) : bounded(index(start), length, stride);
            int end = stop == None.NONE ? (stride > 0 ? length : -1) : bounded(index(stop), length, stride);
            long distance = stride > 0 ? (long) end - first : (long) first - end;
            long width = Math.abs((long) stride);
            return new Slice(first, distance <= 0 ? 0 : (int) ((distance - 1) / width + 1), stride);
        }

        private static int bounded(int index, int length, int step) {
            long place = index < 0 ? (long) index + length : index;
            return Math.clamp(place, step > 0 ? 0 : -1, step > 0 ? length : length - 1);
        }

        private static int index(Object value) {
            if (value instanceof Undefined || !Numbers.isInteger(value)) {
                throw new TemplateFault("slice indices must be integers or None, not " + Types.name(value));
            }
            return Numbers.clamp(value);
        }
    }

    private static int length(Object owner) {
        return switch (owner) {
            case String text -> Text.length(text);
            case Markup markup -> Text.length(markup.text());
            case List<?> list -> list.size();
            case Tuple tuple -> tuple.items().size();
            case Range range -> range.length();
            case Undefined undefined -> throw undefined.fault();
            default -> throw new TemplateFault("'" + Types.name(owner) + "' object cannot be sliced");
        };
    }

    private static String text(String text, Slice slice) {
        if (slice.step() == 1) {
            return Text.slice(text, slice.start(), slice.start() + slice.count());
        }
        int[] codePoints = text.codePoints().toArray();
        var picked = new StringBuilder();
        for (int i = 0; i < slice.count(); i++) {
            picked.appendCodePoint(codePoints[slice.start() + i * slice.step()]);
        }
        return picked.toString();
    }

    private static List<Object> pick(List<?> items, Slice slice) {
        var picked = new ArrayList<Object>(slice.count());
        for (int i = 0; i < slice.count(); i++) {
            picked.add(items.get(slice.start() + i * slice.step()));
        }
        return picked;
    }

    private static Range range(Range range, Slice slice) {
        long start = range.start() + slice.start() * range.step();
        long step = range.step() * slice.step();
        return new Range(start, start + slice.count() * step, step);
    }

    private static Object element(Object owner, Object key) {
        int length = switch (owner) {
            case String text -> Text.length(text);
            case Markup markup -> Text.length(markup.text());
            case List<?> list -> list.size();
            case Tuple tuple -> tuple.items().size();
            case Range range -> range.length();
            default -> 0;
        };
        long index = Numbers.clamp(key);
        long place = index < 0 ? index + length : index;
        return place < 0 || place >= length ? Undefined.element(owner, key) : element(owner, (int) place);
    }

    private static Object element(Object owner, int place) {
        return switch (owner) {
            case String text -> Text.slice(text, place, place + 1);
            case Markup(String text) -> new Markup(Text.slice(text, place, place + 1));
            case List<?> list -> list.get(place);
            case Tuple tuple -> tuple.items().get(place);
            case Range range -> range.at(place);
            default -> Undefined.element(owner, (long) place);
        };
    }

    private static boolean isHashable(Object key) {
        return switch (key) {
            case List<?> _ -> false;
            case Dictionary _ -> false;
            case View _ -> false;
            case Tuple tuple -> tuple.items().stream().allMatch(Subscripts::isHashable);
            default -> true;
        };
    }
}
