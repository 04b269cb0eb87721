package roselle.jinja.operation;

import java.util.ArrayList;
import java.util.List;
import roselle.jinja.value.Markup;
import roselle.jinja.value.None;
import roselle.jinja.value.Parameters;
import roselle.jinja.value.Rendering;
import roselle.jinja.value.Undefined;

/** The way to a member that filters take as {@code attribute}: names and indices apart by dots. */
public record MemberPath(List<Object> parts) {
    public static final MemberPath SELF = new MemberPath(List.of());

    public static MemberPath of(Object attribute) {
        return switch (attribute) {
            case None _ -> SELF;
            case String text -> of(text);
            case Markup(String text) -> of(text);
            default -> new MemberPath(List.of(attribute));
        };
    }

    /** Several ways apart by commas. */
    public static List<MemberPath> several(Object attribute) {
        if (!(attribute instanceof String text)) {
            return List.of(of(attribute));
        }
        var paths = new ArrayList<MemberPath>();
        for (String path : Parameters.pieces(text, ',')) {
            paths.add(of(path));
        }
        return paths;
    }

    public Object follow(Rendering rendering, Object value) {
        var member = value;
        for (Object part : parts) {
            member = Subscripts.item(rendering, member, part);
        }
        return member;
    }

    /** The member, with another value in place of an undefined one on the way. */
    public Object follow(Rendering rendering, Object value, Object otherwise) {
        var member = value;
        for (Object part : parts) {
            member = Subscripts.item(rendering, member, part);
            member = member instanceof Undefined && otherwise != None.NONE ? otherwise : member;
        }
        return member;
    }

    private static MemberPath of(String text) {
        var parts = new ArrayList<Object>();
        for (String part : Parameters.pieces(text, '.')) {
            boolean isIndex =
                    !part.isEmpty() && part.length() < 10 && part.chars().allMatch(Character::isDigit);
            parts.add(isIndex ? (Object) Long.valueOf(part) : part);
        }
        return new MemberPath(parts);
    }
}
