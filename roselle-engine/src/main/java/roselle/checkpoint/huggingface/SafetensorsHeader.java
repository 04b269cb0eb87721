package roselle.checkpoint.huggingface;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import roselle.api.CheckpointException;
import roselle.checkpoint.file.CheckedSize;
import roselle.checkpoint.file.FileCursor;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.file.MappedFile;
import roselle.checkpoint.file.TensorPlace;
import roselle.tensor.DataType;
import roselle.tensor.Shape;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.InputCoercionException;

/** Reads the header of a safetensors file: a 64-bit length, then a JSON object of tensors with their byte ranges. */
final class SafetensorsHeader {
    /** The largest header that the format allows. */
    static final int LARGEST = 100_000_000;

    private static final int LENGTH_BYTES = 8;
    private static final int LARGEST_TENSORS = 1 << 18;
    private static final int LARGEST_RANK = 8;

    private final MappedFile file;
    private final JsonParser parser;
    private final long dataStart;
    private String tensor = "";

    private SafetensorsHeader(MappedFile file, JsonParser parser, long dataStart) {
        this.file = file;
        this.parser = parser;
        this.dataStart = dataStart;
    }

    /** All tensors of a file, in the order of its header. */
    static List<TensorPlace> read(MappedFile file) {
        FileCursor cursor = new FileCursor(file, 0);
        CheckedSize length = cursor.size64("header length");
        length.atMost(LARGEST, "the format's limit of").atMost(cursor.remaining(), "the bytes that follow it,");
        byte[] header = file.data().asSlice(LENGTH_BYTES, length.value()).toArray(ValueLayout.JAVA_BYTE);
        try (JsonParser parser = StrictJson.parser(file.name(), LENGTH_BYTES, header)) {
            return new SafetensorsHeader(file, parser, LENGTH_BYTES + length.value()).checkedTensors();
        }
    }

    private List<TensorPlace> checkedTensors() {
        try {
            return tensors();
        } catch (JacksonException | IllegalStateException e) {
            throw StrictJson.malformed(file.name(), offset(parser.currentLocation()), e);
        }
    }

    private List<TensorPlace> tensors() {
        expect(parser.nextToken(), JsonToken.START_OBJECT, "header");
        List<TensorPlace> places = new ArrayList<>();
        Set<String> names = new HashSet<>();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String name = parser.currentName();
            if (!names.add(name)) {
                throw field("tensor name").malformed(name, "two tensors have this name");
            }
            tensor = name;
            parser.nextToken();
            if (name.equals("__metadata__")) {
                requireTexts();
            } else {
                places.add(tensor(name));
            }
            if (places.size() > LARGEST_TENSORS) {
                throw field("tensor count").malformed(places.size(), "more than the limit of " + LARGEST_TENSORS);
            }
        }
        tensor = "";
        if (parser.nextToken() != null) {
            throw field("header").malformed(parser.getString(), "nothing may follow the header's object");
        }
        TensorPlace.checkDisjoint(places);
        checkWhole(places);
        return List.copyOf(places);
    }

    /** The format's metadata is an object of texts. */
    private void requireTexts() {
        if (parser.currentToken() == JsonToken.VALUE_NULL) {
            return;
        }
        expect(parser.currentToken(), JsonToken.START_OBJECT, "metadata");
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            expect(parser.nextToken(), JsonToken.VALUE_STRING, "metadata " + FileField.excerpt(parser.currentName()));
        }
    }

    /** Tensors follow each other from the header to the file's end, so that nothing else can hide in a file. */
    private void checkWhole(List<TensorPlace> places) {
        long bytes = 0;
        for (TensorPlace place : places) {
            bytes += place.bytes();
        }
        long follow = file.data().byteSize() - dataStart;
        if (bytes != follow) {
            throw new FileField(file.name(), dataStart, "data", "")
                    .malformed(follow + " bytes", "the tensors of the header take " + bytes);
        }
    }

    private TensorPlace tensor(String name) {
        expect(parser.currentToken(), JsonToken.START_OBJECT, "entry");
        FileField start = field("entry");
        Optional<DataType> type = Optional.empty();
        Optional<List<CheckedSize>> shape = Optional.empty();
        Optional<List<CheckedSize>> offsets = Optional.empty();
        while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
            String key = parser.currentName();
            parser.nextToken();
            switch (key) {
                case "dtype" -> type = Optional.of(type());
                case "shape" -> shape = Optional.of(sizes("shape", LARGEST_RANK));
                case "data_offsets" -> offsets = Optional.of(sizes("data_offsets", 2));
                default -> throw field("key").malformed(key, "only dtype, shape, data_offsets may be");
            }
        }
        return place(
                name,
                type.orElseThrow(() -> missing(start, "dtype")),
                shape.orElseThrow(() -> missing(start, "shape")),
                offsets.filter(list -> list.size() == 2).orElseThrow(() -> missing(start, "two data_offsets")));
    }

    private TensorPlace place(String name, DataType type, List<CheckedSize> extents, List<CheckedSize> offsets) {
        CheckedSize begin = offsets.getFirst();
        CheckedSize end = offsets.getLast();
        Shape shape = TensorPlace.checkedShape(type, begin.field(), extents);
        begin.atMost(end.value(), "the end,");
        end.plus(dataStart).atMost(file.data().byteSize(), "the file's size");
        long bytes = TensorPlace.byteSize(type, shape);
        if (end.value() - begin.value() != bytes) {
            throw end.field()
                    .malformed(
                            "[" + begin.value() + ", " + end.value() + "]",
                            "a " + type + " tensor of shape " + shape + " takes " + bytes + " bytes");
        }
        return new TensorPlace(name, type, shape, begin.plus(dataStart), bytes);
    }

    private DataType type() {
        String label = parser.currentToken() == JsonToken.VALUE_STRING ? parser.getString() : "no string";
        return DataType.ofSafetensors(label)
                .orElseThrow(() -> field("dtype").malformed(label, "this tensor type is not supported"));
    }

    private List<CheckedSize> sizes(String name, int largest) {
        expect(parser.currentToken(), JsonToken.START_ARRAY, name);
        List<CheckedSize> sizes = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            if (sizes.size() == largest) {
                throw field(name).malformed("longer", "at most " + largest + " numbers may stand there");
            }
            sizes.add(size(field(name)));
        }
        return sizes;
    }

    private CheckedSize size(FileField field) {
        String text = parser.getString();
        if (parser.currentToken() != JsonToken.VALUE_NUMBER_INT) {
            throw field.malformed(String.valueOf(text), "not a whole number");
        }
        try {
            long value = parser.getLongValue();
            if (value < 0) {
                throw field.malformed(value, "negative");
            }
            return CheckedSize.of(field, value);
        } catch (InputCoercionException _) {
            throw field.malformed(text, "larger than any file");
        }
    }

    private void expect(@Nullable JsonToken token, JsonToken expected, String name) {
        if (token != expected) {
            String found = token == null ? "nothing" : String.valueOf(parser.getString());
            throw field(name).malformed(found, "expected " + expected);
        }
    }

    private FileField field(String name) {
        return new FileField(file.name(), offset(parser.currentTokenLocation()), name, tensor);
    }

    private static long offset(TokenStreamLocation location) {
        return LENGTH_BYTES + Math.max(0, location.getByteOffset());
    }

    private static CheckpointException missing(FileField start, String key) {
        return start.malformed("incomplete", "it has no " + key);
    }
}
