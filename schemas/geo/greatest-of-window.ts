/**
 * The greatest of the numbers in a window that moves forward. It keeps only the numbers that can
 * still become the greatest, so that each is added and dropped once, in a window of any length.
 */
export class GreatestOfWindow {
  #numbers: number[] = []
  #places: number[] = []
  #first = 0

  /** Adds a number at a place after all places before. */
  add(place: number, number: number): void {
    while (this.#numbers.length > this.#first && (this.#numbers.at(-1) as number) <= number) {
      this.#numbers.pop()
      this.#places.pop()
    }
    this.#numbers.push(number)
    this.#places.push(place)
  }

  /** Drops the numbers at places before this one. */
  dropBefore(place: number): void {
    while (this.#first < this.#places.length && (this.#places[this.#first] as number) < place) {
      this.#first += 1
    }
    if (this.#first < 1_000 || this.#first * 2 < this.#places.length) return
    this.#numbers = this.#numbers.slice(this.#first)
    this.#places = this.#places.slice(this.#first)
    this.#first = 0
  }

  /** -Infinity if the window is empty. */
  get greatest(): number {
    return this.#numbers[this.#first] ?? -Infinity
  }
}
