package roselle.jinja.value;

/** An object of the interpreter that has a length, and no members that anyone else may ask for. */
public interface Sized {
    int length();
}
