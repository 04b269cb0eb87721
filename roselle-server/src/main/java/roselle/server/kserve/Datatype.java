package roselle.server.kserve;

/** Types of elements, by their names in requests, and in Triton's configurations of models. */
enum Datatype {
    BYTES("TYPE_STRING"),
    BOOL("TYPE_BOOL"),
    FP32("TYPE_FP32"),
    UINT32("TYPE_UINT32");

    private final String configured;

    Datatype(String configured) {
        this.configured = configured;
    }

    String configured() {
        return configured;
    }
}
