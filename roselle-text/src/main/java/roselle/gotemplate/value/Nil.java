package roselle.gotemplate.value;

/** Go's nil, and what is not there. */
public enum Nil {
    NIL
}
