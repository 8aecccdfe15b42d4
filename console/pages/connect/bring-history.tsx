import { shell } from '../../guides/shell.ts'
import { Snippet } from './guide-view.tsx'

/** How the history of a device comes in from the system that it reported to so far. */
export function BringHistory({ address, deviceId }: { address: string; deviceId: string }) {
  const command = `npm run import -- --url ${shell(address)} --device ${shell(deviceId)} FILE`
  return (
    <details>
      <summary>Import its history</summary>
      <div class="snippets stack some">
        <p>
          From Traccar, OwnTracks Recorder, Dawarich, Google, PhoneTrack, GPX files and others, with
          a key that has the scope <code>positions:import</code> in the environment variable{' '}
          <code>GPS_KEY</code>. <code>docs/moving.md</code> says step by step how to get the files.
        </p>
        <Snippet title="Import" text={command} />
      </div>
    </details>
  )
}
