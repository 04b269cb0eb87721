package roselle.structured.type;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import roselle.api.type.PartialValue;
import roselle.structured.type.TypeNode.Choice;
import roselle.structured.type.TypeNode.Component;
import roselle.structured.type.TypeNode.Elements;
import roselle.structured.type.TypeNode.Entries;
import roselle.structured.type.TypeNode.RecordNode;
import roselle.structured.type.TypeNode.Scalar;

/** A value that has been opened and is not closed yet. */
sealed interface Frame {
    /** A place for a value. */
    record Slot(TypeNode node, String path) {
        /** The place of a property of this value. */
        Slot member(String name, TypeNode of) {
            return new Slot(of, path.isEmpty() ? name : path + "." + name);
        }
    }

    /** Its own place. */
    Slot place();

    /** The place of the value that is read now or next. */
    Slot slot();

    /** Takes the name of the value that comes next. */
    default void name(String name) {
        throw new UnreadableException(place().path(), "an array has no names");
    }

    /** Takes the value that was read; returns what goes on. */
    Frame add(@Nullable Object value);

    /** The value, now that it is closed. */
    Object close();

    /** What there is of it, with what there is of the value that is read now. */
    PartialValue partial(PartialValue last);

    /** A record. */
    final class OfRecord implements Frame {
        private final Slot place;
        private final RecordNode record;
        private final String discriminator;
        private final Map<String, Integer> indices;
        private final @Nullable Object[] values;
        private final boolean[] isRead;
        private int now = -1;

        /** @param discriminator that has been read; empty where there is none */
        OfRecord(Slot place, RecordNode record, String discriminator) {
            this.place = place;
            this.record = record;
            this.discriminator = discriminator;
            indices = record.indices();
            values = new @Nullable Object[indices.size()];
            isRead = new boolean[indices.size()];
        }

        @Override
        public Slot place() {
            return place;
        }

        @Override
        public Slot slot() {
            Component component = record.components().get(now);
            return place.member(component.name(), component.node());
        }

        @Override
        public void name(String name) {
            Integer index = indices.get(name);
            if (index == null || isRead[index]) {
                throw new UnreadableException(
                        place.path(),
                        record.name + (index == null ? " has no component " : " has two components ") + name);
            }
            now = index;
        }

        @Override
        public Frame add(@Nullable Object value) {
            values[now] = value;
            isRead[now] = true;
            return this;
        }

        @Override
        public Object close() {
            for (int index = 0; index < isRead.length; index++) {
                if (!isRead[index]) {
                    String missing = record.components().get(index).name();
                    throw new UnreadableException(place.path(), record.name + " lacks " + missing);
                }
            }
            try {
                return record.maker.make(values);
            } catch (RuntimeException refused) {
                throw new UnreadableException(place.path(), refused);
            }
        }

        @Override
        public PartialValue partial(PartialValue last) {
            Map<String, PartialValue> members = new LinkedHashMap<>();
            if (!discriminator.isEmpty()) {
                members.put(discriminator, new PartialValue.Whole(record.name));
            }
            for (int index = 0; index < values.length; index++) {
                if (isRead[index]) {
                    members.put(record.components().get(index).name(), new PartialValue.Whole(values[index]));
                }
            }
            if (now >= 0 && !isRead[now]) {
                members.put(record.components().get(now).name(), last);
            }
            return new PartialValue.Members(members);
        }
    }

    /** A list or a set. */
    final class OfElements implements Frame {
        private final Slot place;
        private final Elements node;
        private final List<@Nullable Object> values = new ArrayList<>();

        OfElements(Slot place, Elements node) {
            this.place = place;
            this.node = node;
        }

        @Override
        public Slot place() {
            return place;
        }

        @Override
        public Slot slot() {
            return new Slot(node.element(), place.path() + "[" + values.size() + "]");
        }

        @Override
        public Frame add(@Nullable Object value) {
            values.add(value);
            return this;
        }

        @Override
        public Object close() {
            return node.isSet()
                    ? Collections.unmodifiableSet(new LinkedHashSet<>(values))
                    : Collections.unmodifiableList(values);
        }

        @Override
        public PartialValue partial(PartialValue last) {
            List<PartialValue> elements = new ArrayList<>();
            for (Object value : values) {
                elements.add(new PartialValue.Whole(value));
            }
            if (!(last instanceof PartialValue.Nothing)) {
                elements.add(last);
            }
            return new PartialValue.Elements(elements);
        }
    }

    /** A map. */
    final class OfEntries implements Frame {
        private final Slot place;
        private final Entries node;
        private final Map<Object, @Nullable Object> values = new LinkedHashMap<>();
        private final Map<String, PartialValue> told = new LinkedHashMap<>(); // by the names as they were written
        private String name = "";
        private boolean isInValue;

        OfEntries(Slot place, Entries node) {
            this.place = place;
            this.node = node;
        }

        @Override
        public Slot place() {
            return place;
        }

        @Override
        public Slot slot() {
            return new Slot(
                    node.value(),
                    place.path() + "[\"" + name.replace("\\", "\\\\").replace("\"", "\\\"") + "\"]");
        }

        @Override
        public void name(String next) {
            if (told.containsKey(next)) {
                throw new UnreadableException(place.path(), "the key " + next + " is there twice");
            }
            name = next;
            isInValue = true;
        }

        @Override
        public Frame add(@Nullable Object value) {
            try {
                values.put(node.key().read().apply(name), value);
            } catch (RuntimeException refused) {
                throw new UnreadableException(place.path(), refused);
            }
            told.put(name, new PartialValue.Whole(value));
            isInValue = false;
            return this;
        }

        @Override
        public Object close() {
            return Collections.unmodifiableMap(values);
        }

        @Override
        public PartialValue partial(PartialValue last) {
            Map<String, PartialValue> members = new LinkedHashMap<>(told);
            if (isInValue) {
                members.put(name, last);
            }
            return new PartialValue.Members(members);
        }
    }

    /** A record of a sealed interface, before its discriminator says which. */
    final class OfChoice implements Frame {
        private static final Scalar TAG = new Scalar(Map.of(), name -> name, true, false, true);

        private final Slot place;
        private final Choice choice;

        OfChoice(Slot place, Choice choice) {
            this.place = place;
            this.choice = choice;
        }

        @Override
        public Slot place() {
            return place;
        }

        @Override
        public Slot slot() {
            return place.member(choice.discriminator, TAG);
        }

        @Override
        public void name(String name) {
            if (!name.equals(choice.discriminator)) {
                throw new UnreadableException(
                        place.path(), "the first property is " + name + ", not " + choice.discriminator);
            }
        }

        @Override
        public Frame add(@Nullable Object value) {
            RecordNode record = value instanceof String name ? choice.records().get(name) : null;
            if (record == null) {
                throw new UnreadableException(
                        place.path(), value + " is none of " + choice.records().keySet());
            }
            return new OfRecord(place, record, choice.discriminator);
        }

        @Override
        public Object close() {
            throw new UnreadableException(place.path(), "the property " + choice.discriminator + " is missing");
        }

        @Override
        public PartialValue partial(PartialValue last) {
            return new PartialValue.Members(Map.of());
        }
    }
}
