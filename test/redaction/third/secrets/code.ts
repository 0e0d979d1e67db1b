import { again, plain, secretTexts } from '../corpus.ts'
import { form, jwt, password, strong, urlPassword, weak } from '../make.ts'
import * as v from '../vendors.ts'

export const code = secretTexts('code')`
import OpenAI from 'openai'

const client = new OpenAI({
  apiKey: '${v.openaiProject}',
})
%%
from anthropic import Anthropic

client = Anthropic(api_key="${v.anthropic}")
message = client.messages.create(model="claude-sonnet-4-5", max_tokens=512, messages=[])
%%
import boto3

s3 = boto3.client(
    "s3",
    aws_access_key_id="${v.awsId}",
    aws_secret_access_key="${v.awsSecret}",
    region_name="eu-west-1",
)
%%
conn = psycopg2.connect(host="db.internal", dbname="app", user="app", password="${password}")
%%
engine = create_engine("postgresql+psycopg://svc:${urlPassword}@pg.internal/ledger", pool_size=5)
%%
const pool = mysql.createPool({ host: 'mysql.internal', user: 'root', password: '${weak}', database: 'crm' })
%%
mongoose.connect('mongodb+srv://admin:${urlPassword}@cluster.example.org/app')
  .then(() => console.log('connected'))
%%
const token = jwt.sign({ id: user.id }, '${weak}', { expiresIn: '7d' })
%%
app.use(session({ secret: '${v.letters32}', resave: false, saveUninitialized: true }))
%%
app.config["SECRET_KEY"] = "${v.hex32}"
app.config["SQLALCHEMY_DATABASE_URI"] = "mysql://shop:${urlPassword}@localhost/shop"
%%
SECRET_KEY = 'django-insecure-${form('{l50}')}'
DEBUG = True
%%
stripe.api_key = "${v.stripeLong}"
stripe.Charge.create(amount=2000, currency="eur", source="tok_visa")
%%
private static final String API_KEY = "${v.generic}";
private static final String DB_PASSWORD = "${weak}";
%%
Connection c = DriverManager.getConnection("jdbc:mysql://db.internal:3306/hr", "hr", "${weak}");
%%
var client = new TelegramBotClient("${v.telegramBot}");
%%
bot.run("${v.discordBot}")
%%
const web = new WebClient('${v.slackBot}');
await web.chat.postMessage({ channel: '#ops', text: 'hello' });
%%
const stripe = require('stripe')('${v.stripeTest}');
%%
$mail->Username = 'info@example.com';
$mail->Password = '${weak}';
$mail->SMTPSecure = 'tls';
%%
$pdo = new PDO('mysql:host=localhost;dbname=forum', 'forum', '${weak}');
%%
db, err := sql.Open("postgres", "host=db.internal user=api password=${urlPassword} dbname=api sslmode=disable")
if err != nil {
	log.Fatal(err)
}
%%
req.Header.Set("Authorization", "Bearer ${v.urlSafe43}")
%%
req.Header.Set("PRIVATE-TOKEN", "${v.gitlabPersonal}")
%%
headers = {"Authorization": "token ${v.githubClassic}", "Accept": "application/vnd.github+json"}
r = requests.get("https://api.example.com/user", headers=headers)
%%
requests.post(URL, auth=("admin", "${weak}"), json=payload)
%%
auth = HTTPBasicAuth('elastic', '${strong}')
%%
const firebaseConfig = {
  apiKey: "${v.googleKey}",
  authDomain: "chat.example.com",
  projectId: "chat-demo",
};
%%
let db_url = "postgres://rust:${urlPassword}@127.0.0.1:5432/todo";
let github = Octocrab::builder().personal_token("${v.githubFine}".to_string()).build()?;
%%
--- a/src/mailer.ts
+++ b/src/mailer.ts
@@ -3,7 +3,7 @@
-sgMail.setApiKey('${v.sendgrid}')
+sgMail.setApiKey(process.env.SENDGRID_API_KEY ?? '')
%%
 export const settings = {
-  clientSecret: '${v.googleClientSecret}',
+  clientSecret: env('GOOGLE_CLIENT_SECRET'),
   scopes: ['email', 'profile'],
 }
%%
driver.find_element(By.ID, "username").send_keys("qa@example.com")
driver.find_element(By.ID, "password").send_keys("${weak}")
%%
await page.fill('#email', 'anna@example.com')
await page.fill('#password', '${weak}')
await page.click('text=Sign in')
%%
CREATE USER reporting WITH PASSWORD '${strong}';
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reporting;
%%
ALTER USER 'root'@'localhost' IDENTIFIED BY '${weak}';
FLUSH PRIVILEGES;
%%
CREATE LOGIN etl WITH PASSWORD = N'${strong}', DEFAULT_DATABASE = staging;
%%
const AES_KEY = Buffer.from('${v.hex64}', 'hex')
const HMAC_SECRET = "${v.base64Of32}"
%%
supabase = create_client("https://project.example.com", "${jwt}")
%%
Twilio::REST::Client.new("AC${plain(v.hex32)}", "${v.twilioAuth}")
%%
config.aws_secret = "${v.awsSecret}"
config.aws_key = "${v.awsId}"
%%
genai.configure(api_key="${v.googleKey}")
model = genai.GenerativeModel("gemini-2.0-flash")
%%
os.environ["HUGGINGFACEHUB_API_TOKEN"] = "${v.huggingFace}"
os.environ["OPENAI_API_KEY"] = "${v.openaiLegacy}"
%%
val retrofitKey = "${v.letters32}" // api key of the weather backend
buildConfigField("String", "WEATHER_API_KEY", "\"${again(v.letters32)}\"")
%%
signingConfigs {
    release {
        storeFile file("release.keystore")
        storePassword "${weak}"
        keyAlias "upload"
        keyPassword "${weak}"
    }
}
%%
const shopify = new Shopify({ shopName: 'demo', accessToken: '${v.shopify}' })
%%
if (user === 'admin' && password === '${weak}') {
  return grant(user)
}
%%
def login(username="svc_import", passwd="${weak}"):
    return session.post("/login", data={"u": username, "p": passwd})
%%
linear = LinearClient(apiKey="${v.linear}")
%%
Cell 4:
!pip install -q groq
from groq import Groq
client = Groq(api_key="${v.groq}")
`
