/** Two tones, for what must not be overlooked. Browsers stay silent until the page was used. */
export function ringOnce(): void {
  const context = new AudioContext()
  for (const [after, frequency] of [
    [0, 880],
    [0.25, 660],
  ] as const) {
    const tone = context.createOscillator()
    const volume = context.createGain()
    tone.frequency.value = frequency
    volume.gain.value = 0.2
    tone.connect(volume).connect(context.destination)
    tone.start(context.currentTime + after)
    tone.stop(context.currentTime + after + 0.2)
  }
  setTimeout(() => {
    context.close().catch(() => undefined)
  }, 1_000)
}
