package roselle.checkpoint.gguf;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import roselle.checkpoint.file.CheckedSize;
import roselle.checkpoint.file.FileCursor;
import roselle.checkpoint.file.FileField;
import roselle.checkpoint.file.MappedFile;
import roselle.checkpoint.file.TensorPlace;
import roselle.tensor.DataType;
import roselle.tensor.Shape;

/**
 * Reads the header of a GGUF file, version 2 or 3: metadata keys, then tensor names, shapes, types and offsets.
 *
 * <p>Arrays are walked over, not read: a vocabulary of 128,000 strings costs 128,000 length checks and no object.
 */
final class GgufHeaderReader {
    /** "GGUF", read as a little-endian integer. */
    static final int MAGIC = 0x46554747;

    /** Length of the key, its type, one byte of value. */
    private static final int MIN_KEY_BYTES = 8 + 4 + 1;
    /** Length of the name, rank, type, offset. */
    private static final int MIN_TENSOR_BYTES = 8 + 4 + 4 + 8;

    private static final int LARGEST_KEYS = 1 << 16;
    private static final int LARGEST_TENSORS = 1 << 18;
    private static final int LARGEST_ARRAY = 1 << 24;
    private static final int LARGEST_NAME = 1 << 10;
    private static final int LARGEST_STRING = 1 << 26;
    private static final int LARGEST_RANK = 8;
    private static final int LARGEST_ALIGNMENT = 1 << 20;
    private static final int DEFAULT_ALIGNMENT = 32;
    private static final String ALIGNMENT_KEY = "general.alignment";

    private final MappedFile file;
    private final FileCursor cursor;
    private long arrayElements;

    private GgufHeaderReader(MappedFile file) {
        this.file = file;
        this.cursor = new FileCursor(file, 0);
    }

    static GgufHeader read(MappedFile file) {
        return new GgufHeaderReader(file).header();
    }

    private GgufHeader header() {
        checkMagic();
        checkVersion();
        CheckedSize tensorCount = cursor.size64("tensor count").atMost(LARGEST_TENSORS, "the limit of");
        CheckedSize keyCount = cursor.count("metadata count", MIN_KEY_BYTES, LARGEST_KEYS);
        var metadata = metadata(keyCount.asInt());
        long alignment = alignment(metadata);
        List<PlacedRelatively> placed = tensorInfos(tensorCount);
        return new GgufHeader(metadata, absolute(placed, alignment));
    }

    private void checkMagic() {
        FileField field = cursor.field("magic");
        int magic = cursor.int32("magic");
        if (magic != MAGIC) {
            throw field.malformed("0x" + Integer.toHexString(magic), "not a GGUF file");
        }
    }

    private void checkVersion() {
        FileField field = cursor.field("version");
        int version = cursor.int32("version");
        if (version == Integer.reverseBytes(2) || version == Integer.reverseBytes(3)) {
            throw field.malformed(version, "a big-endian file; only little-endian files are read");
        }
        if (version != 2 && version != 3) {
            throw field.malformed(Integer.toUnsignedString(version), "only versions 2 and 3 are read");
        }
    }

    private SequencedMap<String, GgufEntry> metadata(int count) {
        SequencedMap<String, GgufEntry> metadata = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            cursor.enter("");
            FileField field = cursor.field("metadata key");
            String key = cursor.strictString("metadata key", LARGEST_NAME);
            cursor.enter(key);
            if (metadata.put(key, entry()) != null) {
                throw field.malformed(key, "it stands there twice");
            }
        }
        cursor.enter("");
        return Collections.unmodifiableSequencedMap(metadata);
    }

    private GgufEntry entry() {
        GgufType type = type("type");
        if (type == GgufType.ARRAY) {
            return array();
        }
        long offset = cursor.position();
        skip(type, new CheckedSize(cursor.field("value"), 1, 1));
        return new GgufEntry(type, false, 1, offset);
    }

    private GgufEntry array() {
        FileField typeField = cursor.field("element type");
        GgufType type = type("element type");
        if (type == GgufType.ARRAY) {
            throw typeField.malformed(type.name(), "arrays of arrays are not read");
        }
        CheckedSize count = cursor.count("length", type.fewestBytes(), LARGEST_ARRAY);
        arrayElements = count.plus(arrayElements)
                .atMost(LARGEST_ARRAY, "the limit of elements in all arrays,")
                .value();
        long offset = cursor.position();
        skip(type, count);
        return new GgufEntry(type, true, count.asInt(), offset);
    }

    private void skip(GgufType type, CheckedSize count) {
        if (type == GgufType.STRING) {
            cursor.skipStrings("a string", count.value(), LARGEST_STRING);
        } else {
            cursor.skip(count, type.bytes());
        }
    }

    private GgufType type(String name) {
        FileField field = cursor.field(name);
        int number = cursor.int32(name);
        Optional<GgufType> type = GgufType.of(number);
        if (type.isEmpty()) {
            throw field.malformed(Integer.toUnsignedString(number), "not a type of GGUF metadata");
        }
        return type.get();
    }

    private long alignment(SequencedMap<String, GgufEntry> metadata) {
        GgufEntry entry = metadata.get(ALIGNMENT_KEY);
        if (entry == null) {
            return DEFAULT_ALIGNMENT;
        }
        FileCursor value = new FileCursor(file, entry.offset());
        if (entry.isArray() || entry.type() != GgufType.UINT32) {
            throw value.field(ALIGNMENT_KEY).malformed(entry.describe(), "it must be a UINT32");
        }
        CheckedSize alignment = value.size32(ALIGNMENT_KEY).atMost(LARGEST_ALIGNMENT, "the limit of");
        if (Long.bitCount(alignment.value()) != 1) {
            throw alignment.field().malformed(alignment.value(), "not a power of two");
        }
        return alignment.value();
    }

    /** A tensor whose offset counts from where the data begins, which is known only after the last of them. */
    private record PlacedRelatively(String name, DataType type, Shape shape, CheckedSize offset) {}

    private List<PlacedRelatively> tensorInfos(CheckedSize count) {
        cursor.enough(count, MIN_TENSOR_BYTES);
        List<PlacedRelatively> placed = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (int i = 0; i < count.value(); i++) {
            cursor.enter("");
            FileField field = cursor.field("tensor name");
            String name = cursor.strictString("tensor name", LARGEST_NAME);
            if (!names.add(name)) {
                throw field.malformed(name, "two tensors have this name");
            }
            cursor.enter(name);
            placed.add(tensorInfo(name));
        }
        return placed;
    }

    private PlacedRelatively tensorInfo(String name) {
        CheckedSize rank = cursor.size32("rank").atMost(LARGEST_RANK, "the limit of");
        CheckedSize[] extents = new CheckedSize[rank.asInt()];
        for (int axis = extents.length - 1; axis >= 0; axis--) {
            extents[axis] = cursor.size64("extent"); // innermost first in the file
        }
        FileField typeField = cursor.field("type");
        int number = cursor.int32("type");
        Optional<DataType> type = GgmlType.of(number);
        if (type.isEmpty()) {
            throw typeField.malformed(GgmlType.describe(number), "this tensor type is not supported");
        }
        CheckedSize offset = cursor.size64("offset");
        Shape shape = TensorPlace.checkedShape(type.get(), typeField, List.of(extents));
        return new PlacedRelatively(name, type.get(), shape, offset);
    }

    private List<TensorPlace> absolute(List<PlacedRelatively> placed, long alignment) {
        long dataStart = Math.ceilDiv(cursor.position(), alignment) * alignment;
        List<TensorPlace> places = new ArrayList<>(placed.size());
        for (PlacedRelatively tensor : placed) {
            CheckedSize start =
                    tensor.offset.multipleOf(alignment, "the alignment").plus(dataStart);
            long bytes = TensorPlace.byteSize(tensor.type, tensor.shape);
            start.plus(bytes).atMost(file.data().byteSize(), "the file's size");
            places.add(new TensorPlace(tensor.name, tensor.type, tensor.shape, start, bytes));
        }
        TensorPlace.checkDisjoint(places);
        return List.copyOf(places);
    }
}
