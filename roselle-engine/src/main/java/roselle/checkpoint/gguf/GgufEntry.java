package roselle.checkpoint.gguf;

/**
 * One value of a GGUF file's metadata, still in the file.
 *
 * @param type of the value, or of an array's elements
 * @param isArray whether there are any number of values
 * @param count of the values; 1 where this is no array
 * @param offset of the first value in the file
 */
record GgufEntry(GgufType type, boolean isArray, int count, long offset) {
    String describe() {
        return isArray ? "an array of " + count + " " + type : "of type " + type;
    }
}
