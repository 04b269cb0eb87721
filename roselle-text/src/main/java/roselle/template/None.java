package roselle.template;

/** Python's None: the template's null. */
enum None {
    NONE
}
