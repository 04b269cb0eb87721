package roselle.backend.memory;

/** A matrix of a checkpoint, or a stack of them (experts), in whatever form its backend multiplies best. */
public interface Weight {
    String name();

    /** Matrices stacked in this weight; 1 but for experts. */
    int matrices();

    /** Outputs of one matrix. */
    int rows();

    /** Inputs of one matrix. */
    int columns();
}
