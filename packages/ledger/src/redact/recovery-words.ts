/**
 * The 2048 English words of BIP-39, from which wallets make their recovery phrases. The first four letters tell them apart, so
 * no more is kept: groups of two letters and then the third and fourth of each word, a capital where there is no fourth.
 */
const PACKED =
  'abanilleouovsesostsuus accecicocuhiidouquroTtitotrtu adapDdidrjumiulvavi aero affafora agaiEenre ahea ' +
  'aiMRrpsl alarbucoerieLlelomoonphresotewa amatazonouus analchcigeglgrimklnonuotswtetixiY aparolpeplprri ' +
  'archcteaenguMmemomyourareriroTtetitw asKpesasesisuth athlomtatetitr auctdiguntthtotu averocoi ' +
  'awakarayesfukw axis babychcodgGlalcllmbnannRrergrrsesisktt beacanaucacoeffogihahililoltncnesttrtttwyo ' +
  'bicyDkendolrdrttt blacadamanaseaesinooosouueurus boaratdyilmbnenuokosrdrirrssttunXY ' +
  'bracaianasaveaeeicidieiginisocokonoootowus bubbdddgffillblkllndnkrdrgrsSsisyttyezz ' +
  'cabbbiblctgekelllmmempNnancndnnnonvnypapiptRrbrdrgrprrrtseshsistsuTtatctettugusutve ceillemensntrert ' +
  'chaialamanaoaparasateaeceeeferesicieilimoiooroucunur cigannrctityvi ' +
  'claiaparawayeaerevicieifiminipocogosotouowubumusut ' +
  'coacascodeffilinlllolumbmemfmimmmpncndnfngnnnsntnvokolpppyrarernrrstttucunupurusveyo ' +
  'cracadafamanasatawazeaedeeewicimisitoposouowucueuiumunusYys cubeltPpbrirrrtrvshstte cycl ' +
  'daDmampncngrishugwnY dealbabrcaceciclcocrerfefifygrlalimaminintnypapepoptpuriscsesiskspsttatevevivo ' +
  'diagalamarceesetffgignlennnorertsascseshsmsospstvevivozz doctcuGlllpmananknoorseubve ' +
  'drafagamasaweaesifilinipivopumY duckmbneristtcty dwar dyna eageglrlrnrtsistsy echoolon edgeituc effo egG ' +
  'eighth elbodeecegemepevitse embabobrerotplpopt enabacDdldoemerfogagihajoliourirosutetitrve epis equaui ' +
  'erAasodosroup escasaseta eterhi evidilokol exacamcechciclcuecerhahiilisitotpapepiplpoprtetr eyEeb ' +
  'fabrcecudeinitlllsmemimoNncntrmshTtathtiulvo featbrdeEedelmancsttcveW ' +
  'fibectelgulelmltnandnengnirermrsscshTtnX flagamasataveeigipoaocooowuiusY ' +
  'foamcuGilldllodotrcrergrkrtrurwssstunX fragameqesieinogonosowozui fuelNnnrnrytu ' +
  'gadginlallmePrarbrdrlrmSsptethugze geneninrntnust ghos gianftggngrarlve gladanarasidimobooorovowue ' +
  'goatddldodosrispssvewn grabacaianapasaveaeeidieitocouowun guaresidilitN gyM ' +
  'habiirlfmmmsndpprbrdrsrvTvewkza headalaravdgiglllmlpNro hiddghllntPrest ' +
  'hobbckldlelillmeneodpernrrrsspstteurve huBgemambmondngntrdrrrtsb hybr icEon ideaenle igno ilLleln ' +
  'imagitmemupapoprpu inchclcocrdedidodufaflfohaheitjejumanenopuqusasesispsttatetovevivo iron islaolsu item ' +
  'ivor jackguRzz jealanllwe joBinkeurY judgicmpngninkst kang keeneptcY kickDdnndngssTtctettwi kneeifocow ' +
  'laBbebodddykempngptrgtetiugunvaWwnwsyezy leadafaravctftGgageismondngnsopssttve ' +
  'liarbebrcefeftghkembminkonqustttveza loadanbscackginengopttudunveya luckggmbnancxu lyri ' +
  'machDgignidilinjokemmNnandngnsnuplrbrcrgrirkrrsksssttctethtrttxize ' +
  'meadanasatchdadiloltmbmontnurcrgrirrshsstath midddnlkllmindninonurarrsessstXxext ' +
  'mobidediMmeninknsntonrarernsqthtitounusvevi muchffleltscseshsisttu mysestth naivmepkrrsttitu ' +
  'nearckedgaglitphrvstTtwutvewsxt nicegh noblismiodrmrtsetatethtiveW nuclmbrsT oaK obeyjeliscsetavi ' +
  'occueato odor ofFfefite oiL okay olDivym omit onceEiolily openerinpoti oranbichdedigaieigph ostr othe ' +
  'outdtetpts ovalener owNne oxyg oyst ozon pactddgeirlalmndnenintperarerkrrrtsstcthtitrttusveym ' +
  'peacanarasliNnancoppprfrmrsT phonotrays piancnctecGgelllonkonpesttczz placanasatayeaeducugun ' +
  'poemetinlalelindnyolpurtsisssttattvewdwe pracaiedefepesetevicidiminioisivizobocodofogojomoooposotouov ' +
  'publddlllplsmpncpipprcrirprsshTzz pyra qualanaresicitizot rabbccceckdadiilinisllmpncndngpiretethveWzo ' +
  'readalasbebucacecicocyduflfofugigrgujelalelilymamemimondnentoppapeplpoquscsesisospsutitrtuunveviwa rhyt ' +
  'riBbbcechdedgflghgingotppsktuvave roadasbobuckmaofokomsetaugunutya rubbdeGleNnwra ' +
  'saDdddnfeillalmloltlumempndtitoucusveY scalanaratenhehoieisorourareriru ' +
  'seAarasatcocrctcuedekgmlellmininsntrirvsstttuve shadafalaredelerieifinipivocoeoooporouovriruufY ' +
  'siblckdeegghgnlelklllvmimpncngresttuXze skatetIilinirul slabameeenicidigimogotowus smalarilokoo ' +
  'snacakapifow soapcccickdaftlaldlilulvmengonrrrtulunupurut ' +
  'spacarataweaeceeelenheicidikinirlioionooorotrareriY squaueui ' +
  'stabadafagaiamanaratayeaeeemepericilinocomonooorovrareriroruudufumyl ' +
  'subjbmbwccchddffgaggitmmNnnnspeppprrerfrgrprrrvspst swalamapareaeeifiminitor symbmprust ' +
  'tablckGillelknkpergskstttxi teacamllNnannntrmstxt thanatemeneoereyinisoureriroumun ' +
  'tickdegeltmbmenyPresstl toasbadaddEgeilkemamonengniolotPpipprcrnrtsstaurwawewnY ' +
  'tracadafagaianapasavayeaeeeniaibicigimipopouucueulumusutY tubeitmbnannrkrnrt twelenicinisO typepi ugly ' +
  'umbr unabawclcodedofafohaifiqitivknlotiusve updagrhoonpese urbage usagEedefelua util ' +
  'vacacugulilllvNniporistul vehilvndntnurbrirsrysste viabbrcictdeewllntolrtrusasisutavi vocaicidlcluteya ' +
  'wagegoitlklllnntrfrmrrshspstteveY wealaparasatBddekirlcstT whalateaeeeneripis ' +
  'widedtfeldllNndnengnknnntresdseshtn wolfmandodolrdrkrlrrrt wrapecesisiton yard yearll yoUunut zebrro ' +
  'zoneO'

/** Five bits for each of four letters, 1 to 26 or 0 for none, give the place of a bit that says whether a word begins so. */
const LISTED = new Uint8Array(2 ** 20 / 8)
for (const group of PACKED.split(' '))
  for (const ending of group.slice(2).match(/[a-z]{2}|[A-Z]/g) ?? []) {
    const code = codeAt(`${group.slice(0, 2)}${ending} `, 0)
    LISTED[code >> 3] = (LISTED[code >> 3] as number) | (1 << (code & 7))
  }

/** Never asks beyond the end: the NaN that comes back would slow down all that is done with numbers here. */
function codeAt(text: string, at: number): number {
  const fourth = at + 3 < text.length ? text.charCodeAt(at + 3) : 0
  return (
    ((text.charCodeAt(at) & 31) << 15) |
    ((text.charCodeAt(at + 1) & 31) << 10) |
    ((text.charCodeAt(at + 2) & 31) << 5) |
    (isLetter(fourth) ? fourth & 31 : 0)
  )
}

/** One comparison: what is before `a` becomes a very large number. */
export function isLetter(code: number): boolean {
  return ((code | 32) - 97) >>> 0 < 26
}

/** Whether the letters from `start` on may be a word of the list: three at least, and the first four are those of one. */
export function isListed(text: string, start: number): boolean {
  if (start + 3 > text.length) return false
  const code = codeAt(text, start)
  return (
    (((LISTED[code >> 3] as number) >> (code & 7)) & 1) === 1 &&
    isLetter(text.charCodeAt(start)) &&
    isLetter(text.charCodeAt(start + 1)) &&
    isLetter(text.charCodeAt(start + 2))
  )
}
