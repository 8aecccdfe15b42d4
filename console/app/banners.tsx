import { SosBanner } from '../pages/events/sos-banner.tsx'
import { TroubleBanner } from '../pages/notifications/trouble-banner.tsx'

/** What every page shows above its content. */
export function Banners() {
  return (
    <div class="banners">
      <SosBanner />
      <TroubleBanner />
    </div>
  )
}
