// Holds the one state, and tells when it is another.

export class Store<Value> {
  #value: Value;
  #isDue = false;
  readonly #onChange: () => void;

  /** `onChange` is called after a change, once for all changes of one turn. */
  constructor(value: Value, onChange: () => void) {
    this.#value = value;
    this.#onChange = onChange;
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    if (value === this.#value) return;
    this.#value = value;
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#onChange();
    });
  }
}
