package roselle.backend.memory;

/** The low-rank matrices of an adapter (LoRA) in the form in which its device multiplies them; it is freed when nobody holds it. */
public interface Adapter {
    /** Memory that its numbers take. */
    long bytes();
}
