package client_test
import ("testing";"time";"github.com/legation/legation/client";"github.com/legation/legation/internal/testkit";"github.com/legation/legation/a2a";"net/http")
func TestZZ(t *testing.T){
 for _, a := range []testkit.Answer{testkit.Bytes(), testkit.Page(200), testkit.Page(502), testkit.HTTP(401,"text/plain","x","WWW-Authenticate: Bearer realm=x"), testkit.Fail(-32601,"Method not found"), testkit.Redirect(302,"https://login.example/x?y"), testkit.JSON("{}"), testkit.JSON(`{"jsonrpc":"2.0"`), testkit.Result("{}"), testkit.HTTP(404,"",""), testkit.HTTP(200,"text/plain","hello"), testkit.Bytes("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n"), testkit.Hang(), testkit.EndlessLine(`{"task":`+working+`}`), testkit.BrokenEvents(), testkit.BrokenEvents(`{"task":`+working+`}`)} {
  peer := testkit.NewPeer(t, a)
  c := connect(t, peer, client.Config{Timeout: 100*time.Millisecond, MaxEventBytes: 1000}, func(c *a2a.AgentCard){ c.SecurityRequirements=[]a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"oidc":{}}}}})
  t.Log(operations["SendMessage"](t,c))
  t.Log(operations["SendStreamingMessage"](t,c))
 }
 _ = http.Header{}
 for _, a := range []testkit.Answer{testkit.Page(200), testkit.Page(404), testkit.JSON("[]"), testkit.Redirect(301,"https://b.example/")} {
  peer := testkit.NewPeer(t, a)
  _, err := client.Dial(t.Context(), peer.URL+"/x/", client.Config{Policy: peer.Policy()})
  t.Log(err)
 }
 _, err := client.Dial(t.Context(), "http://10.0.0.1/", client.Config{})
 t.Log(err)
 _, err = client.Dial(t.Context(), "https://10.0.0.1/", client.Config{})
 t.Log(err)
}
