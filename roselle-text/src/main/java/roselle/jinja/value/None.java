package roselle.jinja.value;

/** Python's None: the template's null. */
public enum None {
    NONE
}
