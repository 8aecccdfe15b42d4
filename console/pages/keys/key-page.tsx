import { api } from '../../api/client.ts'
import { addressOf } from '../../core/address.ts'
import { Facts } from '../../ui/facts.tsx'
import { isolate } from '../../ui/isolated.tsx'
import { Loaded } from '../../ui/states.tsx'
import { ActionMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { useLoad } from '../../ui/use-load.ts'
import { useKeyActions } from './key-actions.tsx'
import { KEY_FACTS, DevicesOfKey } from './key-parts.tsx'
import './keys.css'

/** The page of a key: its limits, the devices using it, and actions. */
export function KeyPage({ keyId }: { keyId: string }) {
  const key = useLoad((signal) => api.get('/keys/{id}', { path: { id: keyId }, signal }), [keyId])
  const { dialog, actionsOn } = useKeyActions(key.reload)
  const name = key.data?.name
  return (
    <Page
      title={name === undefined ? 'Key' : `Key ${isolate(name)}`}
      actions={
        <>
          <a class="button" href={addressOf('/keys')}>
            All keys
          </a>
          {key.data !== undefined && (
            <ActionMenu of={key.data.name} actions={actionsOn(key.data)} />
          )}
        </>
      }
    >
      <Loaded of={key}>
        {(one) => (
          <>
            <Facts of={KEY_FACTS.map(({ title, cell }) => [title, cell(one)])} />
            <h2>Devices that report with it</h2>
            <DevicesOfKey keyId={keyId} />
          </>
        )}
      </Loaded>
      {dialog}
    </Page>
  )
}
