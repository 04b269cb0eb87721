package roselle.structured.type;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import roselle.structured.type.TypeNode.Absentable;
import roselle.structured.type.TypeNode.Choice;
import roselle.structured.type.TypeNode.Component;
import roselle.structured.type.TypeNode.Elements;
import roselle.structured.type.TypeNode.Entries;
import roselle.structured.type.TypeNode.RecordNode;
import roselle.structured.type.TypeNode.Scalar;

/** Looks for records that contain themselves whatever their values, so that none of them ever ends. */
final class EndlessTypes {
    private final Set<TypeNode> all = new LinkedHashSet<>();
    private final Set<TypeNode> ending = new HashSet<>();

    private EndlessTypes() {}

    static void refuse(TypeNode root) {
        var types = new EndlessTypes();
        types.collect(root);
        int known;
        do {
            known = types.ending.size();
            for (TypeNode node : types.all) {
                if (types.hasEnd(node)) {
                    types.ending.add(node);
                }
            }
        } while (types.ending.size() > known);
        for (TypeNode node : types.all) {
            if (node instanceof RecordNode endless && !types.ending.contains(node)) {
                throw Refusal.at(
                        endless.path,
                        endless.name + " contains itself without end: make a component Optional, @Nullable or a"
                                + " collection");
            }
        }
    }

    private void collect(TypeNode node) {
        if (node instanceof Scalar || !all.add(node)) {
            return;
        }
        parts(node).forEach(this::collect);
    }

    private static Stream<TypeNode> parts(TypeNode node) {
        return switch (node) {
            case Scalar _ -> Stream.of();
            case Absentable absentable -> Stream.of(absentable.inner());
            case Elements elements -> Stream.of(elements.element());
            case Entries entries -> Stream.of(entries.value());
            case RecordNode record -> record.components().stream().map(Component::node);
            case Choice choice -> choice.records().values().stream().map(each -> each);
        };
    }

    private boolean hasEnd(TypeNode node) {
        return switch (node) {
            case Scalar _, Absentable _ -> true;
            case Elements elements ->
                elements.bounds().min() == 0 || parts(node).allMatch(this::isEnding);
            case Entries entries -> entries.bounds().min() == 0 || parts(node).allMatch(this::isEnding);
            case RecordNode _ -> parts(node).allMatch(this::isEnding);
            case Choice _ -> parts(node).anyMatch(this::isEnding);
        };
    }

    private boolean isEnding(TypeNode node) {
        return node instanceof Scalar || ending.contains(node);
    }
}
