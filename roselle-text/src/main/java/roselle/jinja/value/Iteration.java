package roselle.jinja.value;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import roselle.jinja.text.Numbers;
import roselle.jinja.text.Search;
import roselle.jinja.text.TemplateFault;
import roselle.jinja.text.Text;

/** Python's iteration: who has members, how many, and which. */
public final class Iteration {
    private Iteration() {}

    public static boolean isIterable(Object value) {
        return switch (value) {
            case String _ -> true;
            case Markup _ -> true;
            case List<?> _ -> true;
            case Tuple _ -> true;
            case Dictionary _ -> true;
            case Range _ -> true;
            case View _ -> true;
            case Generator _ -> true;
            case Undefined _ -> true;
            case Sized _ -> true;
            default -> false;
        };
    }

    /** The members; each costs a step. */
    public static Iterator<Object> over(Rendering rendering, Object value) {
        var members = members(value);
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return members.hasNext();
            }

            @Override
            public Object next() {
                rendering.step();
                return members.next();
            }
        };
    }

    public static List<Object> list(Rendering rendering, Object value) {
        var list = new ArrayList<>();
        for (var members = over(rendering, value); members.hasNext(); ) {
            list.add(members.next());
        }
        rendering.chargeElements(list.size());
        return list;
    }

    /** The number of members, or -1 where nobody knows. */
    public static int length(Object value) {
        return switch (value) {
            case String text -> Text.length(text);
            case Markup markup -> Text.length(markup.text());
            case List<?> list -> list.size();
            case Tuple tuple -> tuple.items().size();
            case Dictionary dictionary -> dictionary.size();
            case Range range -> range.length();
            case View view -> view.members().size();
            case Undefined _ -> 0;
            case Sized sized -> sized.length();
            default -> -1;
        };
    }

    public static boolean contains(Rendering rendering, Object container, Object value) {
        return switch (container) {
            case String text -> containsText(rendering, text, value);
            case Markup markup -> containsText(rendering, markup.text(), value);
            case Dictionary dictionary -> dictionary.find(rendering, value) != null;
            case Range range when Numbers.isSmall(value) -> range.contains(Numbers.small(value));
            case Sized _ -> throw notIterable(container);
            default -> containsMember(rendering, container, value);
        };
    }

    private static boolean containsText(Rendering rendering, String text, Object value) {
        if (!Types.isText(value)) {
            throw new TemplateFault("'in <string>' requires string as left operand, not " + Types.name(value));
        }
        rendering.charge(text.length());
        return Search.of(PythonText.string(rendering, value)).indexIn(text, 0) >= 0;
    }

    private static boolean containsMember(Rendering rendering, Object container, Object value) {
        for (var members = over(rendering, container); members.hasNext(); ) {
            var member = members.next();
            if (Types.isIdentical(member, value) || Comparison.equal(rendering, member, value)) {
                return true;
            }
        }
        return false;
    }

    private static Iterator<Object> members(Object value) {
        return switch (value) {
            case List<?> list -> iterator(list);
            case Tuple tuple -> tuple.items().iterator();
            case Dictionary dictionary -> dictionary.keys().iterator();
            case View view -> view.members().iterator();
            case Range range -> numbers(range);
            case Generator generator -> generator;
            case String text -> characters(text);
            case Markup markup -> characters(markup.text());
            case Undefined _ -> Collections.emptyIterator();
            default -> throw notIterable(value);
        };
    }

    static TemplateFault notIterable(Object value) {
        return new TemplateFault("'" + Types.name(value) + "' object is not iterable");
    }

    private static Iterator<Object> iterator(List<?> list) {
        return Collections.<Object>unmodifiableList(list).iterator();
    }

    private static Iterator<Object> numbers(Range range) {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < range.length();
            }

            @Override
            public Object next() {
                return range.at(next++);
            }
        };
    }

    private static Iterator<Object> characters(String text) {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < text.length();
            }

            @Override
            public Object next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                int start = next;
                next += Character.charCount(text.codePointAt(start));
                return text.substring(start, next);
            }
        };
    }
}
